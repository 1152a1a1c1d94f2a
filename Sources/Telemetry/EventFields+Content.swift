/// `status`, `activity.ended` and what they share with a start.
extension EventFields {
    func statusDetail(app: String?) throws(EventFault) -> EventDetail {
        let status = try string("status")
        var contentState = try object("contentState")
        let alert = try alert()
        let relevanceScore = try number("relevanceScore")
        if status == nil && contentState == nil && alert == nil && relevanceScore == nil {
            throw missing("status", "publish \"status\", \"contentState\", \"alert\" or \"relevanceScore\"")
        }
        if let status {
            var patch = contentState ?? JSONObject()
            patch["status"] = .string(status)
            contentState = patch
        }
        return EventDetail(
            app: app, contentState: contentState, alert: alert, relevanceScore: relevanceScore?.double)
    }

    func endDetail(app: String?) throws(EventFault) -> EventDetail {
        EventDetail(
            app: app, contentState: try object("contentState"), alert: try alert(), dismissal: try dismissal())
    }

    private func dismissal() throws(EventFault) -> Dismissal? {
        if case .string(let text)? = present("dismissalDate"), text.hasSameBytes(as: "immediate") { return .immediate }
        return try time("dismissalDate").map { .at(milliseconds: $0) }
    }

    /// An alert without any of its fields would be sent and show nothing, so it is a fault.
    func alert() throws(EventFault) -> Alert? {
        guard let object = try object("alert") else { return nil }
        let fields = EventFields(object: object, prefix: "alert.")
        let alert = Alert(
            title: try fields.alertText("title"), body: try fields.alertText("body"), sound: try fields.string("sound"))
        if alert.title == nil && alert.body == nil && alert.sound == nil {
            throw fields.missing("title", "publish \"title\", \"body\" or \"sound\" in the alert")
        }
        return alert
    }

    /// A string, or Apple's localised form `{"loc-key": …, "loc-args": […]}`.
    private func alertText(_ name: String) throws(EventFault) -> JSONValue? {
        switch present(name) {
        case nil: return nil
        case .string(let text)?: return .string(text)
        case .object(let localised)?:
            let fields = EventFields(object: localised, prefix: "\(prefix)\(name).")
            guard try fields.nonEmptyString("loc-key") != nil else {
                throw fields.missing("loc-key", "publish the key of the localised text")
            }
            guard let arguments = fields.present("loc-args") else { return .object(localised) }
            guard case .array(let elements) = arguments, elements.allSatisfy({ $0.asString != nil }) else {
                throw fields.wrongType("loc-args", arguments, wanted: "an array of strings")
            }
            return .object(localised)
        case let other?: throw wrongType(name, other, wanted: "a string or {\"loc-key\", \"loc-args\"}")
        }
    }
}
