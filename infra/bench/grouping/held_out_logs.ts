import { type LogLine, linesOf } from '#infra/bench/grouping/log_sets.ts';

/**
 * Lines that no rule of masking or mining was made with: written afterwards, in the style of what these systems are known
 * to log, with values of kinds that the other sets do not have. Nobody may change a rule because of a line here: such a
 * line moves to the other sets first.
 */
const SYSTEMS: Readonly<Record<string, readonly string[]>> = {
  'racks of a supercomputer': [
    'CE sym {int}, at 0x{hex8}, mask 0x{hex2}',
    'generating core.{int}',
    'ciod: LOGIN chdir({path}) failed: Permission denied',
    'ciod: Error creating node map from file {path}: Bad file descriptor',
    '{int} torus receiver {axis} input pipe error(s) (dcr 0x{hex4}) detected and corrected',
    'total of {int} ddr error(s) detected and corrected on rank {digit}, symbol {int}, bit {digit}',
    'rts: bad message header: invalid node number {int}',
    'MidplaneSwitchController performing bit sparing on {rack} bit {digit}',
    'problem communicating with service card, ido chip: {rack}',
  ],
  'batch jobs': [
    '{attempt} TaskAttempt Transitioned from {state} to {state}',
    'Progress of TaskAttempt {attempt} is : {float}',
    'Launching {attempt}',
    'Assigned container {container} to {attempt}',
    'Retrying connect to server: {host}/{ip}:{port}. Already tried {digit} time(s); maxRetries={int}',
    'Address change detected. Old: {host}/{ip}:{port} New: {host}:{port}',
    'Failed to renew lease for [DFSClient_NONMAPREDUCE_{sint}_1] for {int} seconds. Will retry shortly ...',
    'Recalculating schedule, headroom=<memory:{int}, vCores:{sint}>',
    'Reduce slow start threshold reached. Scheduling reduces.',
    'Map output {attempt} is corrupt, fetched from {host}',
  ],
  'racks of servers': [
    'mptscsih: ioc{digit}: attempting task abort! (sc={hex16})',
    'ib_sm_sweep.c:{int}: Fatal error: no response from {mac}',
    'synchronized to {ip}, stratum {digit}',
    'check pass; user unknown',
    'data_thread() got not answer from any [{host}] datasource',
    'DHCPDISCOVER from {mac} via eth{digit}: network A_net: no free leases',
    'EXT3-fs error (device sd{letter}{digit}): ext3_journal_start_sb: Detected aborted journal',
    'Losing some ticks... checking if CPU frequency changed for node {digit}.',
    'audit: backlog limit exceeded, {int} lost',
  ],
  laptop: [
    'ARPT: {float}: wl0: wl_update_tcpkeep_seq: Original Seq: {int}, Ack: {int}, Win size: {int}',
    'AirPort: Link Down on awdl{digit}. Reason {digit} ({reason}).',
    'Captive: CNPluginHandler en{digit}: Inactive',
    'Unexpected payload found for message {digit}, dataLen {int}',
    'PM response took {int} ms ({int}, {process})',
    'Failed to get battery health of {device}: kIOReturnNotReady',
    'TCPKeepAlive: {state} since {dur}',
    'Sandbox: {process}({int}) deny(1) file-read-data {path}',
    'assertion failed: {build}: libxpc.dylib + {int} [{uuid}]: 0x{hex2}',
    'network changed: v4(en{digit}:{ip}) DNS Proxy SMB',
  ],
  'cluster of containers': [
    'Back-off restarting failed container {name} in pod {pod}_{namespace}({uuid})',
    'Failed to pull image "{registry}/{name}:{build}": rpc error: code = NotFound desc = manifest unknown',
    'Readiness probe failed: HTTP probe failed with statuscode: {status}',
    'Liveness probe failed: Get "http://{ip}:{port}/{name}": context deadline exceeded',
    'Error: ImagePullBackOff of {pod}',
    'Successfully assigned {namespace}/{pod} to {host}',
    'MountVolume.SetUp failed for volume "{table}" : secret "{name}-{word}" not found',
    'Evicted pod {pod}: the node was low on resource: memory. Threshold quantity: {int}Mi, available: {int}Ki',
    'failed to sync secret cache for {namespace}/{name}: timed out waiting for the condition',
    'Node {host} status is now: NodeNotReady',
  ],
  'mail server': [
    '{hex10}: to=<{email}>, relay={host}[{ip}]:25, delay={float}, dsn=5.1.1, status=bounced (host {host}[{ip}] said: 550 unknown user)',
    '{hex10}: to=<{email}>, relay=none, delay={float}, dsn=4.4.1, status=deferred (connect to {host}[{ip}]:25: Connection timed out)',
    'warning: {host}[{ip}]: SASL LOGIN authentication failed: UGFzc3dvcmQ6',
    'warning: hostname {host} does not resolve to address {ip}',
    'NOQUEUE: reject: RCPT from {host}[{ip}]: 554 5.7.1 <{email}>: Relay access denied',
    'lost connection after {command} from {host}[{ip}]',
    'statistics: max connection rate {digit}/60s for (smtp:{ip}) at {clock}',
    '{hex10}: removed',
  ],
  'load balancer': [
    'Server {name}/{word}{digit} is DOWN, reason: Layer4 timeout, check duration: {int}ms. {digit} active and {digit} backup servers left.',
    'Server {name}/{word}{digit} is UP, reason: Layer7 check passed, code: {status}, check duration: {int}ms.',
    'backend {name} has no server available!',
    '{ip}:{port} [{date}] {word}~ {name}/<NOSRV> -1/-1/-1/-1/{int} {status} {int} - - SC-- {int}/{int}/{digit}/{digit}/0 0/0',
    'SSL handshake failure on {word}: {ip}:{port}',
    'rate limit of {ip} exceeded on {name}: {int} requests in {dur}',
    'certificate of {host} expires in {int} days',
  ],
  'device in the field': [
    'modem {device} registered on network {word}, signal {sint} dBm',
    'firmware update of {device} from {build} to {build} failed: checksum mismatch',
    'GPS fix lost after {dur}, {digit} satellites',
    'dropped {int} readings of {device}: clock was {dur} behind',
    'door {digit} of {device} open for {dur}',
    'tyre pressure of wheel {digit} is {float} bar',
    'watchdog reset, uptime {dur}, reason 0x{hex2}',
    'device {mac} asked for topic {word}/{word}/{int} without permission',
  ],
  'cash desk': [
    'terminal {int}: card read error {digit} (contactless)',
    'receipt {receipt} printed twice, cashier {person}',
    'drawer opened without sale by {person} at {clock}',
    'price of article {int} changed from {money} to {money} while in basket',
    'voucher {sku} refused: used on {date}',
    'stock of {person}: article {int} not found',
    'settlement of {money} does not match {money}: difference {money}',
    'no paper in printer of terminal {int}',
  ],
  'search engine': [
    '[{node}] shard [{name}][{digit}] failed to recover from {node}: marked as stale',
    '[{node}] high disk watermark [90%] exceeded on [{id22}][{node}][{path}] free: {size}[{float}%], shards will be relocated away from this node',
    '[gc][{int}] overhead, spent [{dur}] collecting in the last [{dur}]',
    'Failed to parse mapping [{word}]: Field [{word}] is defined twice',
    'rejected execution of {class}@{hex8} on EsThreadPoolExecutor[name = {node}/write, queue capacity = {int}]',
    'master not discovered yet: have discovered [{node}]; discovery will continue using [{ip}:{port}]',
    'circuit_breaking_exception: [parent] Data too large, data for [<http_request>] would be [{int}/{size}], which is larger than the limit of [{int}/{size}]',
    'Cannot resolve symbol {word} in query of {person}',
  ],
};

const WORDS =
  'alpha amber azure beacon birch breeze canyon cedar comet coral crystal delta ember falcon fjord glacier harbor indigo ivory jasper lagoon lotus maple meadow nimbus onyx orchid pepper pine quartz raven river saffron sierra spruce summit thunder tulip velvet willow'.split(
    ' ',
  );
const STATES = ['NEW', 'UNASSIGNED', 'ASSIGNED', 'RUNNING', 'SUCCEEDED', 'FAIL_CONTAINER_CLEANUP', 'KILLED'];
const PEOPLE = ['M. Okafor', 'Jansen', 'Li Wei', 'Schmidt-Braun', "O'Neill", 'de Vries', 'Sørensen', 'García'];

type Random = () => number;

const below = (random: Random, end: number): number => Math.floor(random() * end);
const one = (random: Random, values: readonly string[]): string => values[below(random, values.length)] ?? '';
const letters = (random: Random, count: number): string =>
  Array.from({ length: count }, () => one(random, 'bcdfghjklmnpqrstvwxz2456789'.split(''))).join('');
const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => below(random, 10)).join('');

/** Kinds of values that the other sets do not have. */
const VALUES: Readonly<Record<string, (random: Random) => string>> = {
  axis: (random) => one(random, ['x+', 'x-', 'y+', 'y-', 'z+', 'z-']),
  rack: (random) => `R${digits(random, 2)}-M${below(random, 2)}-L${below(random, 4)}-U${digits(random, 2)}-A`,
  attempt: (random) =>
    `attempt_${digits(random, 13)}_${digits(random, 4)}_${one(random, ['m', 'r'])}_${digits(random, 6)}_0`,
  container: (random) => `container_${digits(random, 13)}_${digits(random, 4)}_01_${digits(random, 6)}`,
  state: (random) => one(random, STATES),
  mac: (random) => Array.from({ length: 6 }, () => `${below(random, 10)}${one(random, 'abcdef'.split(''))}`).join(':'),
  letter: (random) => one(random, 'abcdefgh'.split('')),
  reason: (random) => one(random, ['Unspecified', 'Disassociated', 'Beacon lost', 'Auth expired']),
  process: (random) => one(random, ['WindowServer', 'Mail', 'coreaudiod', 'com.apple.WebKit', 'Preview', 'cloudd']),
  device: (random) => `${one(random, WORDS)}-${letters(random, 4).toUpperCase()}`,
  build: (random) => `${below(random, 20)}.${below(random, 30)}.${below(random, 99)}${one(random, ['', '-rc1', 'b'])}`,
  pod: (random) => `${one(random, WORDS)}-${letters(random, 9)}-${letters(random, 5)}`,
  namespace: (random) => one(random, ['default', 'kube-system', 'staging', 'payments', 'team-blue']),
  registry: (random) => `registry.${one(random, WORDS)}.example:5000`,
  word: (random) => one(random, WORDS),
  command: (random) => one(random, ['AUTH', 'CONNECT', 'DATA', 'EHLO', 'RCPT', 'STARTTLS']),
  person: (random) => one(random, PEOPLE),
  receipt: (random) => `${digits(random, 4)}/${digits(random, 5)}`,
  money: (random) => `€ ${below(random, 900)},${digits(random, 2)}`,
  node: (random) => `${one(random, WORDS)}-data-${below(random, 30)}`,
  id22: (random) => letters(random, 22),
};

/** Lines of ten kinds of systems. Some templates are frequent and some rare, as in real logs. */
export function heldOutSets(): ReadonlyMap<string, readonly LogLine[]> {
  return new Map(
    Object.entries(SYSTEMS).map(([system, templates], index) => {
      const countOf = (place: number): number => Math.max(2, Math.round(120 / (place + 1)));
      return [system, linesOf(templates, { seed: 101 + index, countOf, values: VALUES })];
    }),
  );
}
