/** What holds for every call; Markdown. The tests in test/contract pin each sentence of it. */
export const INTRODUCTION = `
Tocsin watches services for an organization: metrics, exceptions, and who is woken when something breaks. Every operation
is an **action**: \`POST {base_url}/api/rest/actions/{action}\` with a JSON object, answered by \`{"result": …}\`. Agents find the
same actions as tools at \`{base_url}/api/mcp\` (Model Context Protocol), with the same keys and permissions.

\`\`\`sh
curl {base_url}/api/rest/actions/list_services \\
  -H "Authorization: Bearer $TOCSIN_KEY" -H "Content-Type: application/json" -d '{}'
\`\`\`

## Keys and permissions

Send an API key as \`Authorization: Bearer <API_KEY>\`. A key of a user acts with that user's role in one organization, a key of
an organization with its own list; either may be narrowed when it is made. Each action names the permission it needs.

| role | permissions |
|---|---|
| owner, admin | all |
| editor | all but \`services:delete\` |
| responder | every \`:view\`, and \`oncall:edit\` |
| viewer | every \`:view\` |

A lowered role, a revoked or expired key, a user who was removed: each counts from the very next request. Ingestion keys and DSNs
only send data; they open no action, and an API key opens no ingestion. More than 20 bad keys in a minute from one address are
answered 429; a good key from there is still taken.

Ingestion is bounded for each service: beyond its rate senders get 429, while more waits to be stored than may they get 503, both
with \`Retry-After\`. Points of series beyond the day's bound are refused one by one, and those of known series go on.

## Requests

- The body is a JSON object in UTF-8 of at most 1 MiB, not compressed, with content type \`application/json\`. An action without
  properties takes \`{}\`.
- Nothing is coerced and nothing is dropped: \`"60"\` is not \`60\`, and a property that is not listed is an error, at the top and in
  every object whose shape is given. Widgets of a dashboard are the exception: they are kept as they are given.
- \`null\` is taken only where it is listed; there it clears the field. What is absent stays as it is. An update with no change is 200,
  and leaves \`updatedAt\` and the audit log alone.
- Integers reach ±9007199254740991 and come back exactly. A name of nothing but white space is refused.
- Texts must not hold U+0000 or half of a surrogate pair, numbers must not overflow, and nothing may be nested deeper than
  100 levels. Of equal names in one object the last one counts.

## Answers

- Ids are opaque texts such as \`service_01k9z8e4rnf7ktv2x5m6w0abqd\`; those of one kind sort by creation.
- Times are RFC 3339 in UTC with milliseconds. A field without a value is \`null\`, not absent.
- There is no paging: a list is cut at 1,000 rows. Lists of incidents and exception groups tell by \`total\` how many there are.
- Programs should ignore properties they do not know: new ones may appear.

## Errors

Every error is a problem (RFC 9457, \`application/problem+json\`) with a \`code\` for programs, a \`detail\` for people, and the
\`requestId\` that the log bears. Checks come in this order: key (401), action (404), permission (403), media type and size
(415, 413), body (400: every fault at once), and then what it names (404, 409). The id of something in another organization is
answered as one that is nowhere. Another method than POST is 405.

| status | code |
|---|---|
| 400 | \`invalid_input\` |
| 401 | \`unauthenticated\` |
| 403 | \`forbidden\` |
| 404 | \`unknown_action\` (with the nearest names), \`not_found\` |
| 405 | \`method_not_allowed\` |
| 409 | \`conflict\` |
| 413 | \`payload_too_large\` |
| 415 | \`unsupported_media_type\` |
| 429 | \`rate_limited\` (with \`Retry-After\`) |
| 500 | \`internal\` |
| 503 | \`unavailable\` (with \`Retry-After\`) |

## Defaults and details

- A new service has no capability enabled; retention is 30 days for metrics, 90 for exceptions, 400 for resolved incidents.
- A new member has all four channels on and stands behind the last one. A user joins a team once (409).
- A schedule without \`timezone\` is in UTC, without \`rotationType\` weekly, without \`rotationConfig\` empty (nobody is on call), without
  \`startAt\` begins now. \`shiftHours\` below 1 has no effect.
- \`startAt\` and \`endAt\` are RFC 3339, a local date and time in the schedule's time zone, or epoch milliseconds.
- update_escalation_policy takes an empty list of steps: such a policy pages nobody.
- Deleting a policy, or its team, leaves its alert rules without one; their \`updatedAt\` moves.
- An alert rule is enabled unless it says otherwise. Its \`status\` is \`disabled\` when it is switched off, even if a capability is
  missing too. \`config\` is judged by its kind, and replaced as a whole.
- Acknowledging what is acknowledged, resolving what is resolved, enabling what is enabled: 200, unchanged.
`.trim();
