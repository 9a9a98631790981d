import type { ValuesOf } from '#kernel/config.ts';
import { limit, optional } from '#kernel/limit_setting.ts';

/** Limits of long work, which is done in threads of its own while organizations take turns. */
const OF_LONG_WORK = {
  uploadMegabytes: limit(
    { variable: 'LIMIT_UPLOAD_MEGABYTES', fallback: 512, unit: 'MiB', minimum: 2, maximum: 10_000 },
    'one upload of source maps',
    '413',
  ),
  uploadsWaitingMegabytes: limit(
    { variable: 'LIMIT_UPLOADS_WAITING_MEGABYTES', fallback: 1_024, unit: 'MiB', minimum: 2, maximum: 100_000 },
    'uploads of an organization that wait to be read',
    '429',
  ),
  sourceMapMegabytes: optional(
    { variable: 'SOURCE_MAP_MEGABYTES', fallback: 2_048, unit: 'MB' },
    'source maps that an organization has stored, compressed; 0 for no limit',
    'those that were used longest ago are deleted',
  ),
  uploadUnpackedMegabytes: limit(
    { variable: 'LIMIT_UPLOAD_UNPACKED_MEGABYTES', fallback: 4_096, unit: 'MiB', minimum: 2, maximum: 1_000_000 },
    'source maps and code of one upload, unpacked',
    'its other files are left out, which the upload says',
  ),
  uploadSeconds: limit(
    { variable: 'LIMIT_UPLOAD_SECONDS', fallback: 120, unit: 's', maximum: 3_600 },
    'working time to read one upload',
    'its other files are left out, which the upload says',
  ),
  sourceMapSeconds: limit(
    { variable: 'LIMIT_SOURCE_MAP_SECONDS', fallback: 5, unit: 's', maximum: 60 },
    'working time to read source maps for the events of an organization, a minute',
    'events are grouped as they were sent, and mapped when somebody reads them',
  ),
  patternSeconds: limit(
    { variable: 'LIMIT_PATTERN_SECONDS', fallback: 5, unit: 's', maximum: 60 },
    'working time to check the patterns of selectors that an organization sends, a minute',
    '429',
  ),
  refusedMegabytesPerMinute: limit(
    { variable: 'LIMIT_REFUSED_MEGABYTES', fallback: 600, unit: 'MiB' },
    'unpacked bytes of bodies that one address sent for a service and that were refused or brought nothing, a minute (all addresses of a service: five times that); the first MiB of each counts as nothing',
    '429 to bodies that unpack to more than 1 MiB',
  ),
};

const STRICT = 'the connection is closed';
const WAIT = '429';

/** Limits on the resources of a process for all callers, with and without a valid key. */
const OF_PROCESS = {
  connectionsMax: limit(
    { variable: 'LIMIT_CONNECTIONS', fallback: 5_000, minimum: 10, maximum: 1_000_000 },
    'connections of a process',
    'the oldest that has shown no key is closed, or one that waits for a request',
  ),
  connectionsOfAddressMax: limit(
    { variable: 'LIMIT_CONNECTIONS_OF_ADDRESS', fallback: 500, maximum: 1_000_000 },
    'connections of one address (one IPv6 /64) that have shown no key',
    'the one that has waited longest is closed',
  ),
  pipelinedMax: limit(
    { variable: 'LIMIT_PIPELINED_REQUESTS', fallback: 20, maximum: 10_000 },
    'requests of one connection that wait for their answers at a time',
    STRICT,
  ),
  headSeconds: limit(
    { variable: 'LIMIT_HEAD_SECONDS', fallback: 10, unit: 's', maximum: 300 },
    'time for the head of a request',
    '408',
  ),
  requestSeconds: limit(
    { variable: 'LIMIT_REQUEST_SECONDS', fallback: 300, unit: 's', maximum: 3_600 },
    'time for a whole request',
    '408',
  ),
  bodyGraceSeconds: limit(
    { variable: 'LIMIT_SLOW_BODY_SECONDS', fallback: 20, unit: 's', maximum: 3_600 },
    'after this time a body must keep arriving at `LIMIT_SLOW_BODY_BYTES_PER_SECOND` at least',
    '408',
  ),
  bodyBytesPerSecondMin: limit(
    { variable: 'LIMIT_SLOW_BODY_BYTES_PER_SECOND', fallback: 1_024, unit: 'bytes/s' },
    'the speed that a slow body must keep',
    '408',
  ),
  bodyPieceBytesMin: limit(
    { variable: 'LIMIT_BODY_PIECE_BYTES', fallback: 16, unit: 'bytes', maximum: 4_096 },
    'smallest average size of the pieces (HTTP chunks) of a body, from the 257th piece on',
    '400, and the connection is closed',
  ),
  unreadKilobytes: limit(
    { variable: 'LIMIT_UNREAD_BODY_KILOBYTES', fallback: 1_024, unit: 'KiB' },
    'bytes of a body that are still read after its request was refused',
    STRICT,
  ),
  portConnectionsMax: limit(
    { variable: 'LIMIT_GRPC_CONNECTIONS', fallback: 2_000, minimum: 10, maximum: 1_000_000 },
    'gRPC connections of a process',
    'the oldest that has shown no key is closed, or the one that was used longest ago',
  ),
  portConnectionsOfAddressMax: limit(
    { variable: 'LIMIT_GRPC_CONNECTIONS_OF_ADDRESS', fallback: 200, maximum: 1_000_000 },
    'gRPC connections of one address that have shown no key',
    'the one that has waited longest is closed',
  ),
  portSecondsWithoutKey: limit(
    { variable: 'LIMIT_GRPC_SECONDS_WITHOUT_KEY', fallback: 30, unit: 's', maximum: 3_600 },
    'time until a gRPC connection shows a good key',
    STRICT,
  ),
  portKilobytesWithoutKey: limit(
    { variable: 'LIMIT_GRPC_KILOBYTES_WITHOUT_KEY', fallback: 128, unit: 'KiB', minimum: 65 },
    'bytes that may arrive over it until then; HTTP/2 lets clients send 64 KiB before the server answers',
    STRICT,
  ),
  bodiesMegabytes: limit(
    { variable: 'LIMIT_BODIES_MEGABYTES', fallback: 256, unit: 'MiB', minimum: 32, maximum: 1_000_000 },
    'bodies that a process holds at a time, from their arrival to their answer',
    '503, `Retry-After`',
  ),
  bodiesWithoutKeyMegabytes: limit(
    { variable: 'LIMIT_BODIES_WITHOUT_KEY_MEGABYTES', fallback: 16, unit: 'MiB', maximum: 1_000_000 },
    'of these, all bodies without a valid key together',
    '503, `Retry-After`',
  ),
  bodiesOfSenderMegabytes: limit(
    { variable: 'LIMIT_BODIES_OF_SENDER_MEGABYTES', fallback: 96, unit: 'MiB', maximum: 1_000_000 },
    'of these, bodies of one service, key or person; larger bodies are refused',
    '503, `Retry-After`',
  ),
};

/** Limits for one key, connected app or person. */
const OF_CALLER = {
  callsAtOnce: limit(
    { variable: 'LIMIT_CALLS_AT_ONCE', fallback: 4, maximum: 16 },
    'calls of one key, connected app or person that a process runs at a time, of 16 in all',
    'further ones wait',
  ),
  callsWaiting: limit(
    { variable: 'LIMIT_CALLS_WAITING', fallback: 100, maximum: 10_000 },
    'calls of one of them that run or wait',
    WAIT,
  ),
  callsPerMinute: optional(
    { variable: 'CALLS_PER_MINUTE', fallback: 6_000 },
    'calls of one of them a minute, on average; 0 for no limit',
    WAIT,
  ),
  answerMegabytesPerMinute: optional(
    { variable: 'ANSWER_MEGABYTES_PER_MINUTE', fallback: 256, unit: 'MiB' },
    'what one of them may receive a minute, on average; 0 for no limit',
    WAIT,
  ),
  mcpStreamsMax: limit(
    { variable: 'LIMIT_MCP_STREAMS', fallback: 200, maximum: 100_000 },
    'event streams of MCP of a process',
    WAIT,
  ),
  mcpStreamsOfCredentialMax: limit(
    { variable: 'LIMIT_MCP_STREAMS_OF_CREDENTIAL', fallback: 10, maximum: 100_000 },
    'of these, of one key or connected app',
    WAIT,
  ),
  consoleStreamsMax: limit(
    { variable: 'LIMIT_CONSOLE_STREAMS', fallback: 20, maximum: 1_000 },
    'open console tabs of one session that receive live changes',
    WAIT,
  ),
  agentWritesAnHour: limit(
    { variable: 'LIMIT_AGENT_WRITES_PER_HOUR', fallback: 60, maximum: 1_000 },
    'changes of an agent that responds to incidents, where its organization has set no cap',
    WAIT,
  ),
  declaredIncidentsMax: limit(
    { variable: 'LIMIT_DECLARED_INCIDENTS', fallback: 30, maximum: 10_000 },
    'incidents that the people of an organization declare in 10 minutes',
    WAIT,
  ),
  testsPerMinute: limit(
    { variable: 'LIMIT_TESTS_PER_MINUTE', fallback: 3, maximum: 60 },
    'tests of a channel that a person asks for a minute',
    WAIT,
  ),
  testsPerDay: limit({ variable: 'LIMIT_TESTS_PER_DAY', fallback: 30, maximum: 10_000 }, 'the same, a day', WAIT),
  phoneCodesPerDay: limit(
    { variable: 'LIMIT_PHONE_CODES_PER_DAY', fallback: 10, maximum: 1_000 },
    'codes by SMS that a person asks for a day, to confirm a number',
    WAIT,
  ),
  mcpBatchMax: limit({ variable: 'LIMIT_MCP_BATCH', fallback: 20, maximum: 1_000 }, 'messages in an MCP batch', '400'),
};

/** Limits on the attempts of callers without a valid key. */
const OF_UNAUTHENTICATED = {
  badKeysPerMinute: limit(
    { variable: 'LIMIT_BAD_KEYS_PER_MINUTE', fallback: 20, maximum: 100_000 },
    'bad keys of one address a minute',
    '429; a good key still works',
  ),
  signInsOfAddressMax: limit(
    { variable: 'LIMIT_SIGN_INS_OF_ADDRESS', fallback: 30, maximum: 100_000 },
    'failed sign-ins of one address in 15 minutes',
    '429; not from a browser or address that has signed in to the account before',
  ),
  signInsOfAccountMax: limit(
    { variable: 'LIMIT_SIGN_INS_OF_ACCOUNT', fallback: 10, maximum: 10_000 },
    'failed sign-ins to one account in 15 minutes; as many from each browser or address that has signed in before',
    WAIT,
  ),
  secondFactorTriesMax: limit(
    { variable: 'LIMIT_SECOND_FACTOR_TRIES', fallback: 10, maximum: 100 },
    'wrong second factors of a person',
    '429 for 15 minutes',
  ),
  resetsOfAddressMax: limit(
    { variable: 'LIMIT_PASSWORD_RESETS_OF_ADDRESS', fallback: 20, maximum: 10_000 },
    'links for a new password that one address asks for in an hour',
    WAIT,
  ),
  resetsOfAccountMax: limit(
    { variable: 'LIMIT_PASSWORD_RESETS_OF_ACCOUNT', fallback: 3, maximum: 100 },
    'of these, mails to one person in an hour',
    'no mail is sent',
  ),
  appRegistrationsPerMinute: limit(
    { variable: 'LIMIT_APP_REGISTRATIONS_PER_MINUTE', fallback: 30, maximum: 10_000 },
    'apps that one address registers a minute',
    WAIT,
  ),
  appAuthorizationsPerMinute: limit(
    { variable: 'LIMIT_APP_AUTHORIZATIONS_PER_MINUTE', fallback: 120, maximum: 100_000 },
    'pages of the authorization server that one address opens to connect apps, a minute; two for each app',
    WAIT,
  ),
  appDocumentsPerMinute: limit(
    { variable: 'LIMIT_APP_DOCUMENTS_PER_MINUTE', fallback: 30, maximum: 10_000 },
    'documents of apps that are fetched for one address a minute',
    'the document is not fetched',
  ),
  refusedAnswersPerHour: limit(
    { variable: 'LIMIT_REFUSED_ANSWERS_PER_HOUR', fallback: 120, maximum: 100_000 },
    'refused answers to messages of one organization that are recorded in an hour: links that are forged or too old, and unsigned or late call-backs; a tenth of them from each address',
    'further ones are refused and counted, and not recorded',
  ),
};

/** Limits on the data that a service sends. */
const OF_SERVICE = {
  ingestPointsPerSecond: optional(
    { variable: 'INGEST_POINTS_PER_SECOND', fallback: 1_000_000 },
    'metric points of one service a second, on average (Prometheus retries only with `retry_on_http_429`); 0 for no limit',
    WAIT,
  ),
  ingestEventsPerSecond: optional(
    { variable: 'INGEST_EVENTS_PER_SECOND', fallback: 2_000 },
    'exceptions of one service a second, on average; 0 for no limit',
    WAIT,
  ),
  ingestAlertsPerSecond: optional(
    { variable: 'INGEST_ALERTS_PER_SECOND', fallback: 1_000 },
    'alerts of other tools for one service a second, on average; 0 for no limit',
    '429, or what the client of the protocol understands as "later"',
  ),
  ingestSeriesPerDay: optional(
    { variable: 'INGEST_SERIES_PER_DAY', fallback: 1_000_000 },
    'series of one service a day (UTC); 0 for no limit',
    'points of further series are refused, those of known ones are taken',
  ),
  ingestDiskMegabytes: optional(
    { variable: 'INGEST_DISK_MEGABYTES', fallback: 0, unit: 'MB' },
    'when less than this is free on the disk of `DATA_DIR`, no metrics and exceptions are taken, so that people can still acknowledge; 0 for no limit. `npm start` sets 128 where it runs PostgreSQL, and keeps a reserve of 64 MB there',
    '503',
  ),
  ingestQueueMegabytes: optional(
    { variable: 'INGEST_QUEUE_MEGABYTES', fallback: 2_048, unit: 'MB' },
    'how much may wait to be stored, as while ClickHouse is away; 0 for no limit',
    '503',
  ),
  newGroupsPerMinute: optional(
    { variable: 'NEW_GROUPS_PER_MINUTE', fallback: 100 },
    'exception groups that one service begins a minute; 0 for no limit',
    'events of further ones go to one group, "More new exceptions than can be told apart"',
  ),
  incidentsPerService: optional(
    { variable: 'INCIDENTS_PER_SERVICE', fallback: 20 },
    'incidents that one service opens for exceptions, and as many for metrics and for alerts of other tools, within `INCIDENTS_PER_SERVICE_MINUTES`; 0 for no limit',
    'further ones become one storm incident, which pages once and lists them',
  ),
  incidentsPerServiceMinutes: limit(
    { variable: 'INCIDENTS_PER_SERVICE_MINUTES', fallback: 5, unit: 'minutes', maximum: 1_440 },
    'the minutes that this counts over',
    'as above',
  ),
  deploysPerDay: limit(
    { variable: 'LIMIT_DEPLOYS_PER_DAY', fallback: 1_000, maximum: 1_000_000 },
    'deploys of one service a day',
    WAIT,
  ),
};

/**
 * Limits that are settings. The table of the security guide is made of them (`infra/release/limits_table.ts`). As a
 * constant, a limit would save one of its five lines, the one with its variable: what it bounds, how much it is and what
 * happens then has to be said there all the same.
 */
export const LIMIT_SETTINGS = { ...OF_PROCESS, ...OF_UNAUTHENTICATED, ...OF_CALLER, ...OF_SERVICE, ...OF_LONG_WORK };

export type LimitName = keyof typeof LIMIT_SETTINGS;

/** The limits as they are set; part of the settings. */
export type Limits = ValuesOf<typeof LIMIT_SETTINGS>;
