import type { ValuesOf } from '#kernel/config.ts';
import { limit, optional } from '#kernel/limit_setting.ts';
import { LONG_WORK_LIMITS } from '#kernel/threads/long_work_limits.ts';

const STRICT = 'the connection is closed';
const WAIT = '429';

/** Limits on the resources of a process for all callers, with and without a valid key. */
const OF_PROCESS = {
  connectionsMax: limit({
    variable: 'LIMIT_CONNECTIONS',
    purpose: 'connections of a process',
    fallback: 5_000,
    minimum: 10,
    maximum: 1_000_000,
    reached: 'the oldest that has shown no key is closed, or one that waits for a request',
  }),
  connectionsOfAddressMax: limit({
    variable: 'LIMIT_CONNECTIONS_OF_ADDRESS',
    purpose: 'connections of one address (one IPv6 /64) that have shown no key',
    fallback: 500,
    maximum: 1_000_000,
    reached: 'the one that has waited longest is closed',
  }),
  pipelinedMax: limit({
    variable: 'LIMIT_PIPELINED_REQUESTS',
    purpose: 'requests of one connection that wait for their answers at a time',
    fallback: 20,
    maximum: 10_000,
    reached: STRICT,
  }),
  headSeconds: limit({
    variable: 'LIMIT_HEAD_SECONDS',
    purpose: 'time for the head of a request',
    fallback: 10,
    unit: 's',
    maximum: 300,
    reached: '408',
  }),
  requestSeconds: limit({
    variable: 'LIMIT_REQUEST_SECONDS',
    purpose: 'time for a whole request',
    fallback: 300,
    unit: 's',
    maximum: 3_600,
    reached: '408',
  }),
  bodyGraceSeconds: limit({
    variable: 'LIMIT_SLOW_BODY_SECONDS',
    purpose: 'after so long a body must arrive at `LIMIT_SLOW_BODY_BYTES_PER_SECOND`',
    fallback: 20,
    unit: 's',
    maximum: 3_600,
    reached: '408',
  }),
  bodyBytesPerSecondMin: limit({
    variable: 'LIMIT_SLOW_BODY_BYTES_PER_SECOND',
    purpose: 'the speed that a slow body must keep',
    fallback: 1_024,
    unit: 'bytes/s',
    reached: '408',
  }),
  bodyPieceBytesMin: limit({
    variable: 'LIMIT_BODY_PIECE_BYTES',
    purpose:
      'of the pieces that a body comes in, as chunks of HTTP, so many bytes on average at least, from the 257th on',
    fallback: 16,
    unit: 'bytes',
    maximum: 4_096,
    reached: '400, and the connection is closed',
  }),
  unreadKilobytes: limit({
    variable: 'LIMIT_UNREAD_BODY_KILOBYTES',
    purpose: 'bytes of a body that are still read after its request was refused',
    fallback: 1_024,
    unit: 'KiB',
    reached: STRICT,
  }),
  portConnectionsMax: limit({
    variable: 'LIMIT_GRPC_CONNECTIONS',
    purpose: 'gRPC connections of a process',
    fallback: 2_000,
    minimum: 10,
    maximum: 1_000_000,
    reached: 'the oldest that has shown no key is closed, or the one that was used longest ago',
  }),
  portConnectionsOfAddressMax: limit({
    variable: 'LIMIT_GRPC_CONNECTIONS_OF_ADDRESS',
    purpose: 'gRPC connections of one address that have shown no key',
    fallback: 200,
    maximum: 1_000_000,
    reached: 'the one that has waited longest is closed',
  }),
  portSecondsWithoutKey: limit({
    variable: 'LIMIT_GRPC_SECONDS_WITHOUT_KEY',
    purpose: 'time until a gRPC connection shows a good key',
    fallback: 30,
    unit: 's',
    maximum: 3_600,
    reached: STRICT,
  }),
  portKilobytesWithoutKey: limit({
    variable: 'LIMIT_GRPC_KILOBYTES_WITHOUT_KEY',
    purpose: 'bytes that may arrive over it until then; HTTP/2 lets clients send 64 KiB before the server answers',
    fallback: 128,
    unit: 'KiB',
    minimum: 65,
    reached: STRICT,
  }),
  bodiesMegabytes: limit({
    variable: 'LIMIT_BODIES_MEGABYTES',
    purpose: 'bodies that a process holds at a time, from their arrival to their answer',
    fallback: 256,
    unit: 'MiB',
    minimum: 32,
    maximum: 1_000_000,
    reached: '503, `Retry-After`',
  }),
  bodiesWithoutKeyMegabytes: limit({
    variable: 'LIMIT_BODIES_WITHOUT_KEY_MEGABYTES',
    purpose: 'of these, all bodies without a valid key together',
    fallback: 16,
    unit: 'MiB',
    maximum: 1_000_000,
    reached: '503, `Retry-After`',
  }),
  bodiesOfSenderMegabytes: limit({
    variable: 'LIMIT_BODIES_OF_SENDER_MEGABYTES',
    purpose: 'of these, bodies of one service, key or person; larger bodies are refused',
    fallback: 96,
    unit: 'MiB',
    maximum: 1_000_000,
    reached: '503, `Retry-After`',
  }),
};

/** Limits for one key, connected app or person. */
const OF_CALLER = {
  callsAtOnce: limit({
    variable: 'LIMIT_CALLS_AT_ONCE',
    purpose: 'calls of one key, connected app or person that a process runs at a time, of 16 in all',
    fallback: 4,
    maximum: 16,
    reached: 'further ones wait',
  }),
  callsWaiting: limit({
    variable: 'LIMIT_CALLS_WAITING',
    purpose: 'calls of one of them that run or wait',
    fallback: 100,
    maximum: 10_000,
    reached: WAIT,
  }),
  callsPerMinute: optional({
    variable: 'CALLS_PER_MINUTE',
    purpose: 'calls of one of them a minute, on average; 0 for no limit',
    fallback: 6_000,
    reached: WAIT,
  }),
  answerMegabytesPerMinute: optional({
    variable: 'ANSWER_MEGABYTES_PER_MINUTE',
    purpose: 'what one of them may receive a minute, on average; 0 for no limit',
    fallback: 256,
    unit: 'MiB',
    reached: WAIT,
  }),
  mcpStreamsMax: limit({
    variable: 'LIMIT_MCP_STREAMS',
    purpose: 'event streams of MCP of a process',
    fallback: 200,
    maximum: 100_000,
    reached: WAIT,
  }),
  mcpStreamsOfCredentialMax: limit({
    variable: 'LIMIT_MCP_STREAMS_OF_CREDENTIAL',
    purpose: 'of these, of one key or connected app',
    fallback: 10,
    maximum: 100_000,
    reached: WAIT,
  }),
  consoleStreamsMax: limit({
    variable: 'LIMIT_CONSOLE_STREAMS',
    purpose: 'open console tabs of one session that receive live changes',
    fallback: 20,
    maximum: 1_000,
    reached: WAIT,
  }),
  agentWritesAnHour: limit({
    variable: 'LIMIT_AGENT_WRITES_PER_HOUR',
    purpose: 'changes of an agent that responds to incidents, where its organization has set no cap',
    fallback: 60,
    maximum: 1_000,
    reached: WAIT,
  }),
  declaredIncidentsMax: limit({
    variable: 'LIMIT_DECLARED_INCIDENTS',
    purpose: 'incidents that the people of an organization declare in 10 minutes',
    fallback: 30,
    maximum: 10_000,
    reached: WAIT,
  }),
  testsPerMinute: limit({
    variable: 'LIMIT_TESTS_PER_MINUTE',
    purpose: 'tests of a channel that a person asks for a minute',
    fallback: 3,
    maximum: 60,
    reached: WAIT,
  }),
  testsPerDay: limit({
    variable: 'LIMIT_TESTS_PER_DAY',
    purpose: 'the same, a day',
    fallback: 30,
    maximum: 10_000,
    reached: WAIT,
  }),
  phoneCodesPerDay: limit({
    variable: 'LIMIT_PHONE_CODES_PER_DAY',
    purpose: 'codes by SMS that a person asks for a day, to confirm a number',
    fallback: 10,
    maximum: 1_000,
    reached: WAIT,
  }),
  mcpBatchMax: limit({
    variable: 'LIMIT_MCP_BATCH',
    purpose: 'messages in an MCP batch',
    fallback: 20,
    maximum: 1_000,
    reached: '400',
  }),
};

/** Limits on the attempts of callers without a valid key. */
const OF_UNAUTHENTICATED = {
  badKeysPerMinute: limit({
    variable: 'LIMIT_BAD_KEYS_PER_MINUTE',
    purpose: 'bad keys of one address a minute',
    fallback: 20,
    maximum: 100_000,
    reached: '429; a good key still works',
  }),
  signInsOfAddressMax: limit({
    variable: 'LIMIT_SIGN_INS_OF_ADDRESS',
    purpose: 'failed sign-ins of one address in 15 minutes',
    fallback: 30,
    maximum: 100_000,
    reached: '429; not from a browser or address that has signed in to the account before',
  }),
  signInsOfAccountMax: limit({
    variable: 'LIMIT_SIGN_INS_OF_ACCOUNT',
    purpose:
      'failed sign-ins to one account in 15 minutes; as many from each browser or address that has signed in before',
    fallback: 10,
    maximum: 10_000,
    reached: WAIT,
  }),
  secondFactorTriesMax: limit({
    variable: 'LIMIT_SECOND_FACTOR_TRIES',
    purpose: 'wrong second factors of a person',
    fallback: 10,
    maximum: 100,
    reached: '429 for 15 minutes',
  }),
  resetsOfAddressMax: limit({
    variable: 'LIMIT_PASSWORD_RESETS_OF_ADDRESS',
    purpose: 'links for a new password that one address asks for in an hour',
    fallback: 20,
    maximum: 10_000,
    reached: WAIT,
  }),
  resetsOfAccountMax: limit({
    variable: 'LIMIT_PASSWORD_RESETS_OF_ACCOUNT',
    purpose: 'of these, mails to one person in an hour',
    fallback: 3,
    maximum: 100,
    reached: 'no mail is sent',
  }),
  appRegistrationsPerMinute: limit({
    variable: 'LIMIT_APP_REGISTRATIONS_PER_MINUTE',
    purpose: 'apps that one address registers a minute',
    fallback: 30,
    maximum: 10_000,
    reached: WAIT,
  }),
  appDocumentsPerMinute: limit({
    variable: 'LIMIT_APP_DOCUMENTS_PER_MINUTE',
    purpose: 'documents of apps that are fetched for one address a minute',
    fallback: 30,
    maximum: 10_000,
    reached: 'the document is not fetched',
  }),
  refusedAnswersPerHour: limit({
    variable: 'LIMIT_REFUSED_ANSWERS_PER_HOUR',
    purpose:
      'refused answers to messages of one organization that are recorded in an hour: links that are forged or too old, and unsigned or late call-backs; a tenth of them from each address',
    fallback: 120,
    maximum: 100_000,
    reached: 'further ones are refused and counted, and not recorded',
  }),
};

/** Limits on the data that a service sends. */
const OF_SERVICE = {
  ingestPointsPerSecond: optional({
    variable: 'INGEST_POINTS_PER_SECOND',
    purpose:
      'metric points of one service a second, on average (Prometheus retries only with `retry_on_http_429`); 0 for no limit',
    fallback: 1_000_000,
    reached: WAIT,
  }),
  ingestEventsPerSecond: optional({
    variable: 'INGEST_EVENTS_PER_SECOND',
    purpose: 'exceptions of one service a second, on average; 0 for no limit',
    fallback: 2_000,
    reached: WAIT,
  }),
  ingestAlertsPerSecond: optional({
    variable: 'INGEST_ALERTS_PER_SECOND',
    purpose: 'alerts of other tools for one service a second, on average; 0 for no limit',
    fallback: 1_000,
    reached: '429, or what the client of the protocol understands as "later"',
  }),
  ingestSeriesPerDay: optional({
    variable: 'INGEST_SERIES_PER_DAY',
    purpose: 'series of one service a day (UTC); 0 for no limit',
    fallback: 1_000_000,
    reached: 'points of further series are refused, those of known ones are taken',
  }),
  ingestDiskMegabytes: optional({
    variable: 'INGEST_DISK_MEGABYTES',
    purpose:
      'when less than this is free on the disk of `DATA_DIR`, no metrics and exceptions are taken, so that people can still acknowledge; 0 for no limit. `npm start` sets 128 where it runs PostgreSQL, and keeps a reserve of 64 MB there',
    fallback: 0,
    unit: 'MB',
    reached: '503',
  }),
  ingestQueueMegabytes: optional({
    variable: 'INGEST_QUEUE_MEGABYTES',
    purpose: 'how much may wait to be stored, as while ClickHouse is away; 0 for no limit',
    fallback: 2_048,
    unit: 'MB',
    reached: '503',
  }),
  newGroupsPerMinute: optional({
    variable: 'NEW_GROUPS_PER_MINUTE',
    purpose: 'exception groups that one service begins a minute; 0 for no limit',
    fallback: 100,
    reached: 'events of further ones go to one group, "More new exceptions than can be told apart"',
  }),
  incidentsPerService: optional({
    variable: 'INCIDENTS_PER_SERVICE',
    purpose:
      'incidents that one service opens for exceptions, and as many for metrics and for alerts of other tools, within `INCIDENTS_PER_SERVICE_MINUTES`; 0 for no limit',
    fallback: 20,
    reached: 'further ones become one storm incident, which pages once and lists them',
  }),
  incidentsPerServiceMinutes: limit({
    variable: 'INCIDENTS_PER_SERVICE_MINUTES',
    purpose: 'the minutes that this counts over',
    fallback: 5,
    unit: 'minutes',
    maximum: 1_440,
    reached: 'as above',
  }),
  deploysPerDay: limit({
    variable: 'LIMIT_DEPLOYS_PER_DAY',
    purpose: 'deploys of one service a day',
    fallback: 1_000,
    maximum: 1_000_000,
    reached: WAIT,
  }),
};

/** Limits that are settings. The table of the security guide is made of them (`infra/release/limits_table.ts`). */
export const LIMIT_SETTINGS = {
  ...OF_PROCESS,
  ...OF_UNAUTHENTICATED,
  ...OF_CALLER,
  ...OF_SERVICE,
  ...LONG_WORK_LIMITS,
};

export type LimitName = keyof typeof LIMIT_SETTINGS;

/** The limits as they are set; part of the settings. */
export type Limits = ValuesOf<typeof LIMIT_SETTINGS>;
