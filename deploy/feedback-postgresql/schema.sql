-- What a service keeps of push tokens, and what Waypulse's feedback does to it. PostgreSQL 12 or newer; psql --file schema.sql, once.

-- One row a token that an app reported: yours, with other columns beside these. token is what was published to Waypulse, in lower-case hex;
-- registered_at is the timestamp of the event that named it.
CREATE TABLE tokens (
    token         text PRIMARY KEY CHECK (token = lower(token)),
    -- What feedback names a token by. The token itself never travels.
    token_sha256  text NOT NULL UNIQUE GENERATED ALWAYS AS (encode(sha256(decode(token, 'escape')), 'hex')) STORED,
    kind          text NOT NULL CHECK (kind IN ('update', 'start')),
    activity_id   text,
    user_id       text,
    registered_at timestamptz NOT NULL,
    active        boolean NOT NULL DEFAULT true,
    gone_at       timestamptz,
    gone_reason   text
);

-- One row an activity that is over.
CREATE TABLE ended_activities (
    activity_id text PRIMARY KEY,
    ended_at    timestamptz NOT NULL,
    outcome     text NOT NULL,
    reason      text
);

-- The inbox: each event once, whatever was written or read twice. Remove rows once they are older than any repetition could be (a week):
-- DELETE FROM feedback_inbox WHERE received_at < now() - interval '7 days';
CREATE TABLE feedback_inbox (
    id          uuid PRIMARY KEY,
    received_at timestamptz NOT NULL DEFAULT now(),
    event       jsonb NOT NULL
);

-- How far each file, stream or partition was read: moved on in the transaction that applies what was read.
CREATE TABLE feedback_positions (
    source   text PRIMARY KEY,
    position text NOT NULL
);

-- An app reports a token, the same one again included: then it is alive.
CREATE FUNCTION register_token(token text, kind text, activity_id text, user_id text, registered_at timestamptz) RETURNS void
LANGUAGE sql AS $$
    INSERT INTO tokens AS known (token, kind, activity_id, user_id, registered_at)
    VALUES (lower($1), $2, $3, $4, $5)
    ON CONFLICT (token) DO UPDATE
    SET registered_at = excluded.registered_at, activity_id = excluded.activity_id, user_id = excluded.user_id,
        active = true, gone_at = NULL, gone_reason = NULL
    WHERE excluded.registered_at > known.registered_at
$$;

-- Applies one event; false where it was there already.
CREATE FUNCTION apply_feedback(event jsonb) RETURNS boolean
LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO feedback_inbox (id, event) VALUES ((event ->> 'id')::uuid, event) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    CASE event ->> 'type'
    WHEN 'token.gone' THEN
        -- The same token, and registered until then: one that the app has reported since is alive. Milliseconds are what events have.
        UPDATE tokens
        SET active = false, gone_at = to_timestamp((event ->> 'goneAt')::float8), gone_reason = event ->> 'reason'
        WHERE token_sha256 = event ->> 'tokenSha256' AND active
            AND date_trunc('milliseconds', registered_at) <= to_timestamp((event ->> 'goneAt')::float8);
    WHEN 'activity.ended' THEN
        INSERT INTO ended_activities (activity_id, ended_at, outcome, reason)
        VALUES (
            event ->> 'activityId', to_timestamp((event ->> 'timestamp')::float8), event ->> 'outcome', event ->> 'reason')
        ON CONFLICT (activity_id) DO UPDATE
        SET ended_at = excluded.ended_at, outcome = excluded.outcome, reason = excluded.reason
        WHERE excluded.ended_at > ended_activities.ended_at;
    ELSE
        -- It lies in the inbox, for whoever wants to count or to look.
        NULL;
    END CASE;
    RETURN true;
END
$$;
