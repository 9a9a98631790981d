import { seeded } from '#infra/bench/seeded.ts';

/** One line of a log, with the template that it was made from. */
export interface LogLine {
  readonly label: string;
  readonly text: string;
}

/** What services of many kinds write; `{…}` is filled in from `VALUES`. */
const SYSTEMS: Readonly<Record<string, readonly string[]>> = {
  'block store': [
    'Receiving block blk_{sint} src: /{ip}:{port} dest: /{ip}:{port}',
    'Received block blk_{sint} of size {int} from /{ip}',
    'PacketResponder {digit} for block blk_{sint} terminating',
    'PacketResponder {digit} for block blk_{sint} Exception java.io.EOFException',
    'Verification succeeded for blk_{sint}',
    'Deleting block blk_{sint} file {path}',
    'Got exception while serving blk_{sint} to /{ip}:',
    'Replication of blk_{sint} to {ip}:{port} failed after {int} attempts',
    'BLOCK* ask {ip}:{port} to replicate blk_{sint} to datanode(s) {ip}:{port}',
    'writeBlock blk_{sint} received exception java.io.IOException: Connection reset by peer',
  ],
  'remote shell': [
    'Failed password for {user} from {ip} port {port} ssh2',
    'Failed password for invalid user {user} from {ip} port {port} ssh2',
    'Accepted password for {user} from {ip} port {port} ssh2',
    'Invalid user {user} from {ip}',
    'Connection closed by {ip} [preauth]',
    'Connection reset by {ip} [preauth]',
    'Received disconnect from {ip}: 11: Bye Bye [preauth]',
    'reverse mapping checking getaddrinfo for {host} [{ip}] failed - POSSIBLE BREAK-IN ATTEMPT!',
    'pam_unix(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost={ip} user={user}',
    'pam_unix(sshd:session): session opened for user {user} by (uid=0)',
    'pam_unix(sshd:session): session closed for user {user}',
    'Disconnecting: Too many authentication failures for {user} [preauth]',
  ],
  'machine journal': [
    'session opened for user {user} by (uid={digit})',
    'session closed for user {user}',
    'authentication failure; logname= uid=0 euid=0 tty=NODEVssh ruser= rhost={host} user={user}',
    'connection from {ip} ({host}) at {clock}',
    'Out of Memory: Killed process {int} ({name})',
    'ALERT exited abnormally with [{digit}]',
    '{name} startup succeeded',
    '{name} shutdown failed',
    'Kernel command line: ro root={path} rhgb quiet',
    'CPU {digit}: Temperature above threshold, cpu clock throttled (total events = {int})',
    'usb 1-{digit}: new high-speed USB device number {int} using xhci_hcd',
  ],
  'proxy client': [
    '{host}:{port} open through proxy {host}:{port} HTTPS',
    '{host}:{port} close, {int} bytes sent, {int} bytes received, lifetime {clock}',
    '{host}:{port} error : Could not connect through proxy {host}:{port} - Proxy server cannot establish a connection with the target, status code {status}',
    '{host}:{port} close, {int} bytes ({size}) sent, {int} bytes ({size}) received, lifetime <1 sec',
  ],
  'cloud compute': [
    '[instance: {uuid}] VM Started (Lifecycle Event)',
    '[instance: {uuid}] VM Stopped (Lifecycle Event)',
    '[instance: {uuid}] Took {float} seconds to spawn the instance on the hypervisor.',
    '[instance: {uuid}] Terminating instance',
    '[instance: {uuid}] Deleting instance files {path}',
    '[instance: {uuid}] Total memory: {int} MB, used: {float} MB',
    'image {uuid} at ({path}): checking',
    'image {uuid} at ({path}): in use: on this node {int} local, {int} on other nodes sharing this instance storage',
    '{ip} "GET /v2/{hex32}/servers/detail HTTP/1.1" status: {status} len: {int} time: {float}',
    '{ip} "POST /v2/{hex32}/os-server-external-events HTTP/1.1" status: {status} len: {int} time: {float}',
    'Unknown base file: {path}',
    'During sync_power_state the instance has a pending task (spawning). Skip.',
  ],
  'coordination service': [
    'Accepted socket connection from /{ip}:{port}',
    'Closed socket connection for client /{ip}:{port} which had sessionid 0x{hex16}',
    'Closed socket connection for client /{ip}:{port} (no session established for client)',
    'Established session 0x{hex16} with negotiated timeout {int} for client /{ip}:{port}',
    'Expiring session 0x{hex16}, timeout of {int}ms exceeded',
    'caught end of stream exception',
    'Connection broken for id {int}, my id = {digit}, error =',
    'Cannot open channel to {digit} at election address /{ip}:{port}',
    'Notification time out: {int}',
    'Snapshotting: 0x{hex9} to {path}',
  ],
  'stream jobs': [
    'Running task {float} in stage {float} (TID {int})',
    'Finished task {float} in stage {float} (TID {int}). {int} bytes result sent to driver',
    'Lost task {float} in stage {float} (TID {int}, {host}): ExecutorLostFailure',
    'Block broadcast_{int} stored as values in memory (estimated size {size}, free {size})',
    'Found block rdd_{int}_{int} locally',
    'Started reading broadcast variable {int}',
    'Reading broadcast variable {int} took {int} ms',
    'Asked to send map output locations for shuffle {int} to {host}:{port}',
    'Executor {int} on {host} killed by driver.',
    'Removed broadcast_{int}_piece0 on {host}:{port} in memory (size: {size}, free: {size})',
  ],
  'web server': [
    'jk2_init() Found child {int} in scoreboard slot {digit}',
    'workerEnv.init() ok {path}',
    'mod_jk child workerEnv in error state {digit}',
    '[client {ip}] Directory index forbidden by rule: {path}',
    '[client {ip}] File does not exist: {path}',
    'upstream timed out (110: Connection timed out) while reading response header from upstream, client: {ip}, server: {host}',
    'upstream prematurely closed connection while reading response header from upstream, client: {ip}, server: {host}',
    'limiting requests, excess: {float} by zone "login", client: {ip}',
    "can't find child {int} in scoreboard",
  ],
  shop: [
    'payment of order {int} was declined by {name}',
    'payment of order {int} timed out after {dur}',
    'user {user} could not be found',
    'user {email} is locked until {date}',
    'stock of item {sku} is {sint}',
    'coupon {sku} was used {int} times',
    'cannot reserve {int} of {sku}: only {int} left',
    'webhook to https://{host}/hooks/{int} answered {status} in {dur}',
    'mail to {email} bounced: mailbox full',
    'mail to {email} bounced: no such user',
    'invoice {uuid} has no tax id',
    'retrying charge {int}/{int} for customer {int}',
  ],
  database: [
    'duplicate key value violates unique constraint "{table}_pkey"',
    'deadlock detected: process {int} waits for ShareLock on transaction {int}; blocked by process {int}',
    'canceling statement due to statement timeout after {dur}',
    'canceling statement due to user request',
    'could not connect to server at "{host}" ({ip}), port {port} failed: Connection refused',
    'relation "{table}" does not exist',
    'permission denied for table {table}',
    'password authentication failed for user "{user}"',
    'temporary file: path "{path}", size {int}',
    'checkpoint complete: wrote {int} buffers ({float}%); write={float} s, sync={float} s',
    'invalid input syntax for type integer: "{name}"',
  ],
  'message queue': [
    'consumer {name}-{int} of group {name} has left: heartbeat expired',
    'partition {name}-{digit} is offline, leader {digit} not available',
    'offset {int} of {name}-{digit} is out of range, resetting to {int}',
    'broker {host}:{port} disconnected, retrying in {dur}',
    'message {uuid} was rejected: larger than {size}',
    'message {uuid} expired after {dur}',
    'rebalancing group {name}: {int} members',
    'lag of {name}-{digit} is {int} messages',
  ],
  phone: [
    'acquire lock={int}, flags=0x{digit}, tag="{class}", name={class}, ws=null, uid={int}, pid={int}',
    'release lock={int}, flg=0x0, tag="{class}", name={class}", ws=null, uid={int}, pid={int}',
    'Skipping AppWindowToken{{hex7} token=Token{{hex7} ActivityRecord{{hex7} u0 {class}/.Main t{int}}}}',
    'setSystemUiVisibility vis={int} mask={int} oldVal={int} newVal={int}',
    'Displayed {class}/.MainActivity: +{int}ms',
    'ANR in {class}: input dispatching timed out after {dur}',
    'battery level changed from {int} to {int}',
  ],
  cluster: [
    'node-{int} node psu failure ambient={int}',
    'node-{int} link error on port {digit}',
    'ServerFileSystem: domain storage{int} is full',
    'ServerFileSystem: domain storage{int} was restored',
    'boot (command {int}) Error: failed to boot node-{int}',
    'halt (command {int}) Error: failed to halt node-{int}',
    'Lustre mount FAILED: bglio{int}: block_id location',
    'instruction cache parity error corrected at 0x{hex8}',
    'data TLB error interrupt at 0x{hex8}',
    '{int} ddr errors(s) detected and corrected on rank {digit}, symbol {int}, bit {digit}',
    'generating core.{int}',
    'ciod: failed to read message prefix on control stream (CioStream socket to {ip}:{port})',
  ],
  containers: [
    'Back-off restarting failed container {name} in pod {name}-{hex9}_{name}({uuid})',
    'Readiness probe failed: HTTP probe failed with statuscode: {status}',
    'Readiness probe failed: Get "http://{ip}:{port}/ready": dial tcp {ip}:{port}: connect: connection refused',
    'Failed to pull image "{host}/{name}:v{digit}.{digit}.{int}": not found',
    'Memory cgroup out of memory: Killed process {int} ({name}) total-vm:{int}kB',
    'node {host} is not ready for {dur}',
    'volume {uuid} is already attached to {host}',
    'OCI runtime exec failed: container {hex64} is not running',
  ],
  'health app': [
    'onStandStepChanged {int}',
    'calculateCaloriesWithCache totalCalories={int}',
    'calculateAltitudeWithCache totalAltitude={int}',
    'getTodayTotalDetailSteps = {int}##{int}##{int}##{int}',
    'upload of {int} records failed: HTTP {status}',
    'sync with {host} failed after {dur}',
    'sensor {name} returned {float}',
    'REPORT : {int} {int} {int} {int}',
  ],
  'component store': [
    'Session: {int}_{int} initialized by client {class}',
    'Loaded Servicing Stack v{digit}.{digit}.{int}.{int} with Core: {path}',
    'Warning: Unrecognized packageExtended attribute.',
    'Read out cached package applicability for package: {class}, ApplicableState: {int}, CurrentState:{int}',
    'Failed to internally open package. [HRESULT = 0x{hex8} - CBS_E_INVALID_PACKAGE]',
    'Failed to get next element [HRESULT = 0x{hex8} - ERROR_NO_MORE_ITEMS]',
    'SQM: Failed to start upload with file pattern: {path}, flags: 0x{digit} [HRESULT = 0x{hex8} - E_FAIL]',
    'SQM: Queued {int} file(s) for upload with pattern: {path}',
    '{hex8} Created NT transaction (seq {int}) result 0x{hex8}, handle @0x{hex3}',
  ],
};

const LINES_A_TEMPLATE = 40;
const WORDS =
  'auth billing cart checkout cron delivery export feeds gateway images indexer ledger mailer orders parser payments push quotes reports router search sessions shipping stock sync tasks tokens users video'.split(
    ' ',
  );
const USERS =
  'root admin test oracle guest ubuntu deploy ann bob carol dave eve frank mallory trent cyrus news postgres nagios webmaster user1 pi'.split(
    ' ',
  );

/** Lines of sixteen kinds of systems, in a random order that follows from the name of the system. */
export function logSets(): ReadonlyMap<string, readonly LogLine[]> {
  return new Map(
    Object.entries(SYSTEMS).map(([system, templates], index) => [system, linesOf(templates, { seed: index + 1 })]),
  );
}

/** What fills in a place of a template. */
type Values = Readonly<Record<string, (random: () => number) => string>>;

interface Making {
  readonly seed: number;
  /** How many lines the template at this place has. */
  readonly countOf?: (place: number) => number;
  /** Besides those that all sets have. */
  readonly values?: Values;
}

/** Lines made of templates, in a random order that follows from the seed. */
export function linesOf(
  templates: readonly string[],
  { seed, countOf = () => LINES_A_TEMPLATE, values = {} }: Making,
): readonly LogLine[] {
  const random = seeded(seed);
  const lines = templates.flatMap((label, place) =>
    Array.from({ length: countOf(place) }, () => ({ label, text: fill(label, random, values), at: random() })),
  );
  return lines.toSorted((a, b) => a.at - b.at).map(({ label, text }) => ({ label, text }));
}

function fill(template: string, random: () => number, others: Values): string {
  const below = (end: number): number => Math.floor(random() * end);
  const one = (values: readonly string[]): string => values[below(values.length)] ?? '';
  const digits = (count: number): string => Array.from({ length: count }, () => below(10)).join('');
  const hex = (count: number): string => Array.from({ length: count }, () => below(16).toString(16)).join('');
  const host = (): string =>
    one([`${one(WORDS)}-${below(40)}.example.com`, `${one(WORDS)}.eu.corp.internal`, `db${below(9)}.local`]);
  const values: Readonly<Record<string, () => string>> = {
    ip: () => [10 + below(200), below(256), below(256), below(256)].join('.'),
    port: () => String(1_024 + below(60_000)),
    int: () => String(below(10 ** (1 + below(6)))),
    sint: () => `${random() < 0.5 ? '-' : ''}${1 + below(9)}${digits(17)}`,
    digit: () => String(below(10)),
    float: () => `${below(900)}.${digits(1 + below(4))}`,
    status: () => one(['400', '404', '500', '502', '503']),
    size: () => one([`${below(900)} B`, `${below(90)}.${below(10)} KB`, `${below(90)}.${below(10)} MB`]),
    dur: () => one([`${below(900)}ms`, `${below(60)}.${below(10)}s`, `${below(10)}m${below(60)}s`]),
    clock: () => `${10 + below(14)}:${10 + below(50)}:${10 + below(50)}`,
    date: () => `2027-0${1 + below(9)}-1${below(10)}T0${below(10)}:1${below(10)}:2${below(10)}Z`,
    user: () => one(USERS),
    name: () => one(WORDS),
    table: () => `${one(WORDS)}_${one(WORDS)}`,
    class: () => `com.example.${one(WORDS)}.${one(['Main', 'Worker', 'Service', 'View'])}`,
    sku: () => `${one(['AB', 'KX', 'ZZ'])}-${digits(5)}`,
    host,
    email: () => `${one(USERS)}@${host()}`,
    uuid: () => [8, 4, 4, 4, 12].map(hex).join('-'),
    path: () => `/var/lib/${one(WORDS)}/${one(WORDS)}-${below(1_000)}/${hex(8)}.dat`,
  };
  return template.replaceAll(/\{([a-z]+)(\d*)\}/g, (_, kind: string, length: string) =>
    kind === 'hex' ? hex(Number(length)) : (values[kind]?.() ?? others[`${kind}${length}`]?.(random) ?? ''),
  );
}
