// Written by Tests/Scripts/embed_openapi from schemas/openapi.json.

/// The document that the API serves of itself.
enum OpenAPIDocument {
    static let bytes = Array(text.utf8)

    private static let text = #"""
        {"openapi":"3.1.0","info":{"title":"Waypulse","version":"1","summary":"Live Activity tokens are registered, states read and followed, decisions explai\#
        ned.","description":"A registration is an event: it is checked, appended under the activity's key, and told as `appended` when the broker has it; a st\#
        art token goes into the registry and is told as `stored`. The latest by `timestamp` wins, so the same may be sent twice, late and out of order. Three \#
        kinds of token are told apart by where they are sent, for nothing else tells them apart.\n\nFields are added, none changes its meaning; unknown ones a\#
        re passed over. Errors are problem details (RFC 9457).","license":{"name":"Apache 2.0","identifier":"Apache-2.0"}},"servers":[{"url":"/","description"\#
        :"Wherever this document was read."}],"tags":[{"name":"tokens","description":"Scope tokens:write."},{"name":"states","description":"Scope state:read."\#
        },{"name":"explanations","description":"Scope explain:read."},{"name":"document","description":"No key is needed."}],"paths":{"/v1/live-activities/{ac\#
        tivityId}/token":{"parameters":[{"$ref":"#/components/parameters/activityId"}],"put":{"operationId":"putUpdateToken","tags":["tokens"],"summary":"Regi\#
        ster the update token of an activity","description":"Send it each time that `pushTokenUpdates` gives one, and again when in doubt. What comes before t\#
        he activity's start is kept for it.","security":[{"key":[]}],"x-scope":"tokens:write","requestBody":{"required":true,"content":{"application/json":{"s\#
        chema":{"$ref":"#/components/schemas/UpdateToken"},"example":{"token":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5\#
        e","timestamp":1773000600,"frequentUpdates":true}}}},"responses":{"200":{"description":"It is in the registry (`stored`), or a later one was there and \#
        nothing was changed (`superseded`). Either way the app need do nothing.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Registr\#
        ationOutcome"},"example":{"status":"stored","token":"5e5e…f2f5f1a5"}}}},"202":{"description":"The broker has it (`appended`): whichever member owns th\#
        e activity will read it.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/RegistrationOutcome"},"example":{"status":"appended","\#
        token":"5e5e…f2f5f1a5"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"#/com\#
        ponents/responses/Forbidden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/\#
        components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/InvalidField"},"429":{"$ref":"#/components/responses/TooManyRequests\#
        "},"501":{"$ref":"#/components/responses/UnknownTransferCoding"},"503":{"$ref":"#/components/responses/Unavailable"}}},"delete":{"operationId":"delete\#
        UpdateToken","tags":["tokens"],"summary":"Take an update token back","description":"As when the person dismissed the card, or signed out.","security":\#
        [{"key":[]}],"x-scope":"tokens:write","requestBody":{"required":false,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Revocation\#
        "},"example":{"token":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"}}}},"responses":{"200":{"description":"It is \#
        in the registry (`stored`), or a later one was there and nothing was changed (`superseded`). Either way the app need do nothing.","content":{"applicat\#
        ion/json":{"schema":{"$ref":"#/components/schemas/RegistrationOutcome"},"example":{"status":"stored","token":"5e5e…f2f5f1a5"}}}},"202":{"description":\#
        "The broker has it (`appended`): whichever member owns the activity will read it.","content":{"application/json":{"schema":{"$ref":"#/components/schem\#
        as/RegistrationOutcome"},"example":{"status":"appended","token":"5e5e…f2f5f1a5"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#\#
        /components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$\#
        ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/InvalidFiel\#
        d"},"429":{"$ref":"#/components/responses/TooManyRequests"},"501":{"$ref":"#/components/responses/UnknownTransferCoding"},"503":{"$ref":"#/components/\#
        responses/Unavailable"}}}},"/v1/live-activities/token":{"post":{"operationId":"postUpdateToken","tags":["tokens"],"summary":"Register an update token, \#
        ids in the body","description":"The same as PUT, for apps that post.","security":[{"key":[]}],"x-scope":"tokens:write","requestBody":{"required":true,\#
        "content":{"application/json":{"schema":{"$ref":"#/components/schemas/PostedUpdateToken"},"example":{"activityId":"order-1","token":"5e5e5e5e5e5e5e5e5\#
        e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e","timestamp":1773000600,"frequentUpdates":true}}}},"responses":{"200":{"description":"\#
        It is in the registry (`stored`), or a later one was there and nothing was changed (`superseded`). Either way the app need do nothing.","content":{"ap\#
        plication/json":{"schema":{"$ref":"#/components/schemas/RegistrationOutcome"},"example":{"status":"stored","token":"5e5e…f2f5f1a5"}}}},"202":{"descrip\#
        tion":"The broker has it (`appended`): whichever member owns the activity will read it.","content":{"application/json":{"schema":{"$ref":"#/components\#
        /schemas/RegistrationOutcome"},"example":{"status":"appended","token":"5e5e…f2f5f1a5"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$r\#
        ef":"#/components/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"41\#
        3":{"$ref":"#/components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/Inval\#
        idField"},"429":{"$ref":"#/components/responses/TooManyRequests"},"501":{"$ref":"#/components/responses/UnknownTransferCoding"},"503":{"$ref":"#/compo\#
        nents/responses/Unavailable"}}}},"/v1/users/{userId}/push-to-start-tokens/{attributesType}":{"parameters":[{"$ref":"#/components/parameters/userId"},{\#
        "$ref":"#/components/parameters/attributesType"}],"put":{"operationId":"putStartToken","tags":["tokens"],"summary":"Register a user's push-to-start to\#
        ken","description":"One for each user, type and app: the newest. It starts activities whose `activity.started` names the `userId`.","security":[{"key"\#
        :[]}],"x-scope":"tokens:write","requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/StartToken"},"exam\#
        ple":{"token":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"}}}},"responses":{"200":{"description":"It is in the r\#
        egistry (`stored`), or a later one was there and nothing was changed (`superseded`). Either way the app need do nothing.","content":{"application/json\#
        ":{"schema":{"$ref":"#/components/schemas/RegistrationOutcome"},"example":{"status":"stored","token":"5e5e…f2f5f1a5"}}}},"202":{"description":"The bro\#
        ker has it (`appended`): whichever member owns the activity will read it.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Regis\#
        trationOutcome"},"example":{"status":"appended","token":"5e5e…f2f5f1a5"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/compone\#
        nts/responses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$ref":"#/\#
        components/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/InvalidField"},"429\#
        ":{"$ref":"#/components/responses/TooManyRequests"},"501":{"$ref":"#/components/responses/UnknownTransferCoding"},"503":{"$ref":"#/components/response\#
        s/Unavailable"}}},"delete":{"operationId":"deleteStartToken","tags":["tokens"],"summary":"Take a push-to-start token back","security":[{"key":[]}],"x-\#
        scope":"tokens:write","requestBody":{"required":false,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/Revocation"},"example":{"t\#
        oken":"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"}}}},"responses":{"200":{"description":"It is in the registry \#
        (`stored`), or a later one was there and nothing was changed (`superseded`). Either way the app need do nothing.","content":{"application/json":{"sche\#
        ma":{"$ref":"#/components/schemas/RegistrationOutcome"},"example":{"status":"stored","token":"5e5e…f2f5f1a5"}}}},"202":{"description":"The broker has \#
        it (`appended`): whichever member owns the activity will read it.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/RegistrationO\#
        utcome"},"example":{"status":"appended","token":"5e5e…f2f5f1a5"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/components/resp\#
        onses/Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$ref":"#/componen\#
        ts/responses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/InvalidField"},"429":{"$ref\#
        ":"#/components/responses/TooManyRequests"},"501":{"$ref":"#/components/responses/UnknownTransferCoding"},"503":{"$ref":"#/components/responses/Unavai\#
        lable"}}}},"/v1/push/push-to-start":{"post":{"operationId":"postStartToken","tags":["tokens"],"summary":"Register a push-to-start token, ids in the bo\#
        dy","description":"The same as PUT, for apps that post.","security":[{"key":[]}],"x-scope":"tokens:write","requestBody":{"required":true,"content":{"a\#
        pplication/json":{"schema":{"$ref":"#/components/schemas/PostedStartToken"},"example":{"userId":"user-1","attributesType":"DeliveryAttributes","token"\#
        :"5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"}}}},"responses":{"200":{"description":"It is in the registry (`sto\#
        red`), or a later one was there and nothing was changed (`superseded`). Either way the app need do nothing.","content":{"application/json":{"schema":{\#
        "$ref":"#/components/schemas/RegistrationOutcome"},"example":{"status":"stored","token":"5e5e…f2f5f1a5"}}}},"202":{"description":"The broker has it (`\#
        appended`): whichever member owns the activity will read it.","content":{"application/json":{"schema":{"$ref":"#/components/schemas/RegistrationOutcom\#
        e"},"example":{"status":"appended","token":"5e5e…f2f5f1a5"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/components/responses\#
        /Unauthorized"},"403":{"$ref":"#/components/responses/Forbidden"},"406":{"$ref":"#/components/responses/NotAcceptable"},"413":{"$ref":"#/components/re\#
        sponses/TooLarge"},"415":{"$ref":"#/components/responses/UnsupportedMediaType"},"422":{"$ref":"#/components/responses/InvalidField"},"429":{"$ref":"#/\#
        components/responses/TooManyRequests"},"501":{"$ref":"#/components/responses/UnknownTransferCoding"},"503":{"$ref":"#/components/responses/Unavailable\#
        "}}}},"/v1/live-activities/{activityId}/state":{"parameters":[{"$ref":"#/components/parameters/activityId"}],"get":{"operationId":"getState","tags":["\#
        states"],"summary":"The newest known state, once or as a stream","description":"With `Accept: text/event-stream` as Server-Sent Events: `event: state` \#
        with the state as `data` and its tag as `id`, at once and on each change within about a second; a comment each 15 s; `event: gone` where the activity \#
        is forgotten. The stream ends with the activity; 204 then tells an EventSource that comes again to stay away.","security":[{"key":[]}],"x-scope":"stat\#
        e:read","parameters":[{"$ref":"#/components/parameters/ifNoneMatch"},{"$ref":"#/components/parameters/lastEventId"}],"responses":{"200":{"description"\#
        :"The state.","headers":{"ETag":{"description":"Changes with every byte of the body.","required":false,"schema":{"type":"string"}},"Cache-Control":{"r\#
        equired":true,"schema":{"type":"string"}},"Waypulse-Age-Milliseconds":{"description":"How old the view may be: 0 from the member that owns the activit\#
        y, else the age of its checkpoint.","required":false,"schema":{"type":"integer","minimum":0}}},"content":{"application/json":{"schema":{"$ref":"#/comp\#
        onents/schemas/State"}},"text/event-stream":{"schema":{"type":"string"},"example":"event: state\nid: 7-0f1e2d3c4b5a697887\ndata: {\"activityId\":\"ord\#
        er-1\",\"stage\":\"active\",\"sequence\":7,\"contentState\":{\"status\":\"onTheWay\"}}\n\n"}}},"204":{"description":"The activity has ended, and `Last\#
        -Event-ID` is its last state."},"304":{"description":"The state is still the one of If-None-Match.","headers":{"ETag":{"description":"Changes with eve\#
        ry byte of the body.","required":true,"schema":{"type":"string"}},"Cache-Control":{"required":true,"schema":{"type":"string","const":"private, no-cach\#
        e"}},"Waypulse-Age-Milliseconds":{"description":"How old the view may be: 0 from the member that owns the activity, else the age of its checkpoint.","\#
        required":true,"schema":{"type":"integer","minimum":0}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/components/responses/Unau\#
        thorized"},"403":{"$ref":"#/components/responses/Forbidden"},"404":{"$ref":"#/components/responses/UnknownActivity"},"406":{"$ref":"#/components/respo\#
        nses/NotAcceptable"},"422":{"$ref":"#/components/responses/InvalidField"},"429":{"$ref":"#/components/responses/TooManyRequests"},"503":{"$ref":"#/com\#
        ponents/responses/UnavailableState"}}}},"/v1/live-activities/{activityId}/explain":{"parameters":[{"$ref":"#/components/parameters/activityId"}],"get"\#
        :{"operationId":"getExplanation","tags":["explanations"],"summary":"Why the activity was told what it was told","description":"The last decisions with \#
        their numbers.","security":[{"key":[]}],"x-scope":"explain:read","responses":{"200":{"description":"The last decisions.","content":{"application/json"\#
        :{"schema":{"type":"object"}}}},"400":{"$ref":"#/components/responses/Malformed"},"401":{"$ref":"#/components/responses/Unauthorized"},"403":{"$ref":"\#
        #/components/responses/Forbidden"},"404":{"$ref":"#/components/responses/UnknownActivity"},"406":{"$ref":"#/components/responses/NotAcceptable"},"421"\#
        :{"$ref":"#/components/responses/OtherMember"},"422":{"$ref":"#/components/responses/InvalidField"},"429":{"$ref":"#/components/responses/TooManyReque\#
        sts"},"503":{"$ref":"#/components/responses/Unavailable"}}}},"/v1/openapi.json":{"get":{"operationId":"getDocument","tags":["document"],"summary":"Thi\#
        s document","security":[],"responses":{"200":{"description":"OpenAPI 3.1.","content":{"application/json":{"schema":{"type":"object"}}}},"400":{"$ref":\#
        "#/components/responses/Malformed"},"406":{"$ref":"#/components/responses/NotAcceptable"},"429":{"$ref":"#/components/responses/TooManyRequests"}}}}},\#
        "components":{"securitySchemes":{"key":{"type":"http","scheme":"bearer","description":"A key of the file that `api.keysFile` names. What it opens its \#
        scopes say; each operation names the one it needs as `x-scope`."}},"parameters":{"activityId":{"name":"activityId","in":"path","required":true,"descri\#
        ption":"As in `activity.started`: 1 to 128 bytes of UTF-8, percent-encoded (a / is %2F).","schema":{"type":"string","minLength":1,"maxLength":128,"pat\#
        tern":"^[^\\u0000]+$","description":"1 to 128 bytes of UTF-8."},"example":"order-1"},"userId":{"name":"userId","in":"path","required":true,"descriptio\#
        n":"As in `activity.started`: 1 to 128 bytes of UTF-8, percent-encoded.","schema":{"type":"string","minLength":1,"maxLength":128,"pattern":"^[^\\u0000\#
        ]+$","description":"1 to 128 bytes of UTF-8."},"example":"user-1"},"attributesType":{"name":"attributesType","in":"path","required":true,"description"\#
        :"Name of the ActivityAttributes type.","schema":{"type":"string","minLength":1,"maxLength":128,"pattern":"^[^\\u0000]+$","description":"1 to 128 byte\#
        s of UTF-8."},"example":"DeliveryAttributes"},"ifNoneMatch":{"name":"If-None-Match","in":"header","required":false,"description":"ETag of the state th\#
        at is known: 304 while it is the newest.","schema":{"type":"string"}},"lastEventId":{"name":"Last-Event-ID","in":"header","required":false,"descriptio\#
        n":"With Accept: text/event-stream, the id of the last event: it is not sent again.","schema":{"type":"string"}}},"responses":{"Malformed":{"descripti\#
        on":"Path, head or body cannot be read.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"},"example":{"type":"ur\#
        n:waypulse:problem:malformed-request","title":"The request cannot be read","status":400,"detail":"The body is JSON, but no object; send {\"token\": \"\#
        …\"}.","instance":"/v1/live-activities/order-1/token"}}},"x-problems":["malformed-request"]},"Unauthorized":{"description":"No key, or one that is not \#
        in force.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"},"example":{"type":"urn:waypulse:problem:no-key","ti\#
        tle":"A key is needed","status":401,"detail":"This path needs a key with the scope tokens:write; send it as \"Authorization: Bearer KEY\".","instance"\#
        :"/v1/live-activities/order-1/token"}}},"headers":{"WWW-Authenticate":{"description":"RFC 6750: which scheme, and what is wrong.","required":true,"sch\#
        ema":{"type":"string"}}},"x-problems":["no-key","unknown-key"]},"Forbidden":{"description":"The key lacks the scope.","content":{"application/problem+\#
        json":{"schema":{"$ref":"#/components/schemas/Problem"},"example":{"type":"urn:waypulse:problem:missing-scope","title":"The key does not open this","s\#
        tatus":403,"detail":"The key app-backend lacks the scope tokens:write, which this path needs; add it to the key's line in the file of keys.","instance\#
        ":"/v1/live-activities/order-1/token","scope":"tokens:write"}}},"headers":{"WWW-Authenticate":{"description":"RFC 6750: which scheme, and what is wron\#
        g.","required":true,"schema":{"type":"string"}}},"x-problems":["missing-scope"]},"UnknownActivity":{"description":"No activity of this id is known, or \#
        there is no such path.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"},"example":{"type":"urn:waypulse:proble\#
        m:unknown-activity","title":"The activity is not known","status":404,"detail":"No activity of this id is known: it has not begun, is over for long, or \#
        has another id.","instance":"/v1/live-activities/order-1/state"}}},"x-problems":["unknown-activity","unknown-path"]},"UnknownPath":{"description":"The\#
        re is no such path.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}},"x-problems":["unknown-path"]},"MethodN\#
        otAllowed":{"description":"The path has no such method.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}},"he\#
        aders":{"Allow":{"description":"The methods that it has.","required":true,"schema":{"type":"string"}}},"x-problems":["method-not-allowed"]},"NotAccept\#
        able":{"description":"Accept leaves out every form that there is.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Probl\#
        em"}}},"x-problems":["not-acceptable"]},"TooLarge":{"description":"The body is larger than api.maxBody.","content":{"application/problem+json":{"schem\#
        a":{"$ref":"#/components/schemas/Problem"}}},"x-problems":["too-large"]},"UnsupportedMediaType":{"description":"The body is not said to be application\#
        /json.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"}}},"headers":{"Accept":{"description":"What is taken.",\#
        "required":true,"schema":{"type":"string"}}},"x-problems":["unsupported-media-type"]},"OtherMember":{"description":"Only the member that owns the acti\#
        vity knows; the problem names it.","content":{"application/problem+json":{"schema":{"$ref":"#/components/schemas/Problem"},"example":{"type":"urn:wayp\#
        ulse:problem:other-member","title":"Another member knows","status":421,"detail":"The member two owns this activity, and it alone knows; ask 10.0.0.2:8\#
        080.","instance":"/v1/live-activities/order-1/explain","member":"two","address":"10.0.0.2:8080"}}},"x-problems":["other-member"]},"InvalidField":{"des\#
        cription":"A field is missing, or has a type or value that cannot be used; the problem names it.","content":{"application/problem+json":{"schema":{"$r\#
        ef":"#/components/schemas/Problem"},"example":{"type":"urn:waypulse:problem:invalid-field","title":"A field cannot be used","status":422,"detail":"\"t\#
        imestamp\" looks like milliseconds; send Unix seconds (fractions are allowed).","instance":"/v1/live-activities/order-1/token","field":"timestamp"}}},\#
        "x-problems":["invalid-field"]},"TooManyRequests":{"description":"The key, or an address without one, asks too often.","content":{"application/problem\#
        +json":{"schema":{"$ref":"#/components/schemas/Problem"},"example":{"type":"urn:waypulse:problem:too-many-requests","title":"Too many requests","statu\#
        s":429,"detail":"The key app-backend asks more often than 200.0 times a second; wait 1 s, then send it again.","instance":"/v1/live-activities/order-1\#
        /token"}}},"headers":{"Retry-After":{"description":"Whole seconds to wait.","required":true,"schema":{"type":"integer","minimum":1}}},"x-problems":["t\#
        oo-many-requests"]},"UnknownTransferCoding":{"description":"The body has a transfer coding other than chunked.","content":{"application/problem+json":\#
        {"schema":{"$ref":"#/components/schemas/Problem"}}},"x-problems":["unknown-transfer-coding"]},"Unavailable":{"description":"Broker or store is away, t\#
        oo much waits already, or nobody answered in time. Nothing was promised; the same may be sent again.","content":{"application/problem+json":{"schema":\#
        {"$ref":"#/components/schemas/Problem"},"example":{"type":"urn:waypulse:problem:unavailable","title":"It cannot be done now","status":503,"detail":"It \#
        cannot be done now: no broker answers. Nothing was promised; send the same again.","instance":"/v1/live-activities/order-1/token"}}},"headers":{"Retry\#
        -After":{"description":"Whole seconds to wait.","required":true,"schema":{"type":"integer","minimum":1}}},"x-problems":["unavailable","overloaded"]},"\#
        UnavailableState":{"description":"The state cannot be had now, or too many streams are open.","content":{"application/problem+json":{"schema":{"$ref":\#
        "#/components/schemas/Problem"}}},"headers":{"Retry-After":{"description":"Whole seconds to wait.","required":true,"schema":{"type":"integer","minimum\#
        ":1}}},"x-problems":["unavailable","too-many-streams"]}},"schemas":{"Problem":{"type":"object","description":"RFC 9457. `type` is one of the URNs belo\#
        w; new ones may come, so go by the status where it is not known. A token appears as a fingerprint at most.","required":["type","title","status","detai\#
        l"],"properties":{"type":{"type":"string","enum":["urn:waypulse:problem:malformed-request","urn:waypulse:problem:no-key","urn:waypulse:problem:unknown\#
        -key","urn:waypulse:problem:missing-scope","urn:waypulse:problem:unknown-path","urn:waypulse:problem:unknown-activity","urn:waypulse:problem:method-no\#
        t-allowed","urn:waypulse:problem:not-acceptable","urn:waypulse:problem:too-large","urn:waypulse:problem:unsupported-media-type","urn:waypulse:problem:\#
        other-member","urn:waypulse:problem:invalid-field","urn:waypulse:problem:too-many-requests","urn:waypulse:problem:unknown-transfer-coding","urn:waypul\#
        se:problem:unavailable","urn:waypulse:problem:overloaded","urn:waypulse:problem:too-many-streams"]},"title":{"type":"string"},"status":{"type":"intege\#
        r","minimum":400,"maximum":599},"detail":{"type":"string","description":"What is wrong, where, and how to mend it."},"instance":{"type":"string","desc\#
        ription":"The path of the request."},"field":{"type":"string","description":"The field that is to blame."},"scope":{"type":"string","description":"The \#
        scope that is missing."},"member":{"type":"string","description":"Who knows."},"address":{"type":"string","description":"Where its API answers."}}},"R\#
        egistrationOutcome":{"type":"object","required":["status"],"properties":{"status":{"type":"string","enum":["appended","stored","superseded"]},"token":\#
        {"type":"string","description":"A fingerprint, the one that logs show."}}},"UpdateToken":{"type":"object","description":"Unknown fields are passed ove\#
        r; null is absent.","required":["token"],"properties":{"token":{"type":"string","pattern":"^([0-9A-Fa-f]{2}){32,200}$","minLength":64,"maxLength":400,\#
        "description":"The token's bytes as hex digits of either case, an even number of them.","examples":["5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5\#
        e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"]},"timestamp":{"description":"When the app got the token: the latest wins. Unix seconds (fractions are allowed) or RF\#
        C 3339; at most 300 s ahead of the server's clock. Absent: now.","anyOf":[{"type":"number","minimum":-100000000000,"maximum":100000000000},{"type":"st\#
        ring","format":"date-time"},{"type":"null"}],"examples":[1773000600.5,"2026-03-08T20:10:00.5Z"]},"frequentUpdates":{"type":["boolean","null"],"descrip\#
        tion":"Whether the person allows frequent updates (ActivityAuthorizationInfo.frequentPushesEnabled)."},"app":{"type":["string","null"],"minLength":1,"\#
        description":"Name of a configured app. Needed for start tokens where several are configured.","examples":["courier"]}}},"PostedUpdateToken":{"type":"\#
        object","description":"The same with the activity's id.","required":["activityId","token"],"properties":{"activityId":{"type":"string","minLength":1,"\#
        maxLength":128,"pattern":"^[^\\u0000]+$","description":"As in `activity.started`."},"token":{"type":"string","pattern":"^([0-9A-Fa-f]{2}){32,200}$","m\#
        inLength":64,"maxLength":400,"description":"The token's bytes as hex digits of either case, an even number of them.","examples":["5e5e5e5e5e5e5e5e5e5e\#
        5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"]},"timestamp":{"description":"When the app got the token: the latest wins. Unix seconds \#
        (fractions are allowed) or RFC 3339; at most 300 s ahead of the server's clock. Absent: now.","anyOf":[{"type":"number","minimum":-100000000000,"maxim\#
        um":100000000000},{"type":"string","format":"date-time"},{"type":"null"}],"examples":[1773000600.5,"2026-03-08T20:10:00.5Z"]},"frequentUpdates":{"type\#
        ":["boolean","null"],"description":"Whether the person allows frequent updates (ActivityAuthorizationInfo.frequentPushesEnabled)."},"app":{"type":["st\#
        ring","null"],"minLength":1,"description":"Name of a configured app. Needed for start tokens where several are configured.","examples":["courier"]}}},\#
        "StartToken":{"type":"object","required":["token"],"properties":{"token":{"type":"string","pattern":"^([0-9A-Fa-f]{2}){32,200}$","minLength":64,"maxLe\#
        ngth":400,"description":"The token's bytes as hex digits of either case, an even number of them.","examples":["5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5\#
        e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"]},"timestamp":{"description":"When the app got the token: the latest wins. Unix seconds (fractions are allo\#
        wed) or RFC 3339; at most 300 s ahead of the server's clock. Absent: now.","anyOf":[{"type":"number","minimum":-100000000000,"maximum":100000000000},{\#
        "type":"string","format":"date-time"},{"type":"null"}],"examples":[1773000600.5,"2026-03-08T20:10:00.5Z"]},"app":{"type":["string","null"],"minLength"\#
        :1,"description":"Name of a configured app. Needed for start tokens where several are configured.","examples":["courier"]}}},"PostedStartToken":{"type\#
        ":"object","required":["userId","attributesType","token"],"properties":{"userId":{"type":"string","minLength":1,"maxLength":128,"pattern":"^[^\\u0000]\#
        +$","description":"As in `activity.started`."},"attributesType":{"type":"string","minLength":1,"maxLength":128,"pattern":"^[^\\u0000]+$","description"\#
        :"Name of the ActivityAttributes type."},"token":{"type":"string","pattern":"^([0-9A-Fa-f]{2}){32,200}$","minLength":64,"maxLength":400,"description":\#
        "The token's bytes as hex digits of either case, an even number of them.","examples":["5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5\#
        e5e5e5e5e5e5e5e5e"]},"timestamp":{"description":"When the app got the token: the latest wins. Unix seconds (fractions are allowed) or RFC 3339; at mos\#
        t 300 s ahead of the server's clock. Absent: now.","anyOf":[{"type":"number","minimum":-100000000000,"maximum":100000000000},{"type":"string","format"\#
        :"date-time"},{"type":"null"}],"examples":[1773000600.5,"2026-03-08T20:10:00.5Z"]},"app":{"type":["string","null"],"minLength":1,"description":"Name o\#
        f a configured app. Needed for start tokens where several are configured.","examples":["courier"]}}},"Revocation":{"type":"object","description":"With \#
        a token: that one, if it is still in force. Without: any that was registered until `timestamp`.","properties":{"token":{"anyOf":[{"type":"string","pat\#
        tern":"^([0-9A-Fa-f]{2}){32,200}$","minLength":64,"maxLength":400,"description":"The token's bytes as hex digits of either case, an even number of the\#
        m.","examples":["5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"]},{"type":"null"}]},"timestamp":{"description":"Whe\#
        n the app got the token: the latest wins. Unix seconds (fractions are allowed) or RFC 3339; at most 300 s ahead of the server's clock. Absent: now.","\#
        anyOf":[{"type":"number","minimum":-100000000000,"maximum":100000000000},{"type":"string","format":"date-time"},{"type":"null"}],"examples":[177300060\#
        0.5,"2026-03-08T20:10:00.5Z"]},"app":{"type":["string","null"],"minLength":1,"description":"Name of a configured app. Needed for start tokens where se\#
        veral are configured.","examples":["courier"]}}},"State":{"type":"object","required":["activityId","stage","sequence","contentState"],"properties":{"a\#
        ctivityId":{"type":"string"},"stage":{"type":"string","enum":["waitingForToken","active","ended"],"description":"`waitingForToken`: it is known, and n\#
        o token to tell."},"attributesType":{"type":"string"},"sequence":{"type":"integer","description":"Of the last push; a phone that shows a higher one is \#
        ahead."},"lastPushedAt":{"type":"string","format":"date-time","description":"When the provider last took a push."},"contentState":{"type":"object","de\#
        scription":"Complete, as a push would carry it."}},"example":{"activityId":"order-1","stage":"active","attributesType":"DeliveryAttributes","sequence"\#
        :7,"lastPushedAt":"2026-03-08T20:10:06.000Z","contentState":{"status":"onTheWay","_seq":7}}}}}}
        """#
}
