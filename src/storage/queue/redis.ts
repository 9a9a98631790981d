import { readFileSync } from 'node:fs';

import { Cluster, type ClusterNode, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';

export interface RedisStore {
  /** Address in the form that `readRedisAddress` reads. */
  readonly redisUrl: string;
  /** The file with the authority that signed its certificate; absent, those that Node knows are trusted. */
  readonly redisCaFile?: string | undefined;
}

/** Address of Redis: one server, a master that Sentinels know, or a cluster. Valkey speaks the same protocol. */
interface RedisAddress {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly hosts: readonly { readonly host: string; readonly port: number }[];
  /** The name of the master that Sentinels watch. */
  readonly master: string;
  readonly database: number;
  readonly username: string | null;
  readonly password: string | null;
  readonly isEncrypted: boolean;
}

const FORM =
  /^redis(?<tls>s?)(?:\+(?<kind>sentinel|cluster))?:\/\/(?:(?<user>[^:@/]*)(?::(?<password>[^/]*))?@)?(?<hosts>[^/?#@]+)(?<path>\/[^?#]*)?$/;

/**
 * `redis://user:password@host:6379/0`, `redis+sentinel://host:26379,host:26379/master/0` or
 * `redis+cluster://host:6379,host:6379`; `rediss` encrypts. Null for anything else.
 */
export function readRedisAddress(url: string): RedisAddress | null {
  const { tls, kind = 'server', user, password, hosts = '', path = '' } = FORM.exec(url)?.groups ?? {};
  const parts = path.split('/').filter((part) => part !== '');
  const master = kind === 'sentinel' ? (parts.shift() ?? '') : '';
  const [database = '0'] = parts;
  const places = hosts.split(',').map((text) => readHost(text, kind === 'sentinel' ? 26_379 : 6_379));
  const isSound =
    hosts !== '' &&
    places.every((place) => place !== null) &&
    (kind !== 'server' || places.length === 1) &&
    (kind !== 'sentinel' || master !== '') &&
    /^\d{1,4}$/.test(database);
  if (!isSound) return null;
  try {
    return {
      kind: kind as RedisAddress['kind'],
      hosts: places.filter((place) => place !== null),
      master: decodeURIComponent(master),
      database: Number(database),
      username: user ? decodeURIComponent(user) : null,
      password: password ? decodeURIComponent(password) : null,
      isEncrypted: tls === 's',
    };
  } catch {
    return null;
  }
}

function readHost(text: string, defaultPort: number): { host: string; port: number } | null {
  const { host, bare, port } =
    /^(?:\[(?<host>[0-9a-fA-F:]+)\]|(?<bare>[^:[\]]+))(?::(?<port>\d{1,5}))?$/.exec(text)?.groups ?? {};
  const name = host ?? bare;
  const number = port === undefined ? defaultPort : Number(port);
  return name === undefined || number > 65_535 ? null : { host: name, port: number };
}

/** Behaviour while Redis is away; see ioredis. */
interface RedisBehaviour {
  readonly lazyConnect: boolean;
  readonly enableReadyCheck: boolean;
  readonly maxRetriesPerRequest: number | null;
  readonly connectTimeout?: number;
  readonly retryStrategy?: () => null;
  readonly sentinelRetryStrategy?: () => null;
  readonly silence?: RedisSilence;
}

/**
 * Time for which a connection may owe an answer before it is replaced and its commands are sent again. Without this, after
 * packet loss TCP tries again only after as long a pause as the network was away.
 */
export interface RedisSilence {
  /** Longer than any command takes that does not wait for something. */
  readonly answerMsMax: number;
  /** Timeout of copies of a connection, which BullMQ makes to wait for jobs: longer than BullMQ waits. */
  readonly waitMsMax: number;
}

/** Opens a connection. The caller listens to its errors. Throws for an address that `readRedisAddress` does not read. */
export function openRedis(
  { redisUrl, redisCaFile }: RedisStore,
  { silence, ...behaviour }: RedisBehaviour,
): Redis | Cluster {
  const address = readRedisAddress(redisUrl);
  if (address === null) throw new Error('REDIS_URL is not an address of Redis');
  const { kind, hosts, master, database, username, password, isEncrypted } = address;
  const tls = redisCaFile === undefined ? {} : { ca: readFileSync(redisCaFile) };
  const options = {
    ...behaviour,
    ...(silence && { connectTimeout: silence.answerMsMax, socketTimeout: silence.answerMsMax }),
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(isEncrypted && { tls }),
  };
  switch (kind) {
    case 'server': {
      const [place] = hosts;
      return new Server({ ...options, ...place, db: database }, silence);
    }
    case 'sentinel':
      return new Server(
        {
          ...options,
          sentinels: [...hosts],
          name: master,
          db: database,
          enableTLSForSentinelMode: isEncrypted,
          ...(isEncrypted && { sentinelTLS: tls }),
          ...(silence && { sentinelCommandTimeout: silence.answerMsMax }),
        },
        silence,
      );
    case 'cluster': {
      const { lazyConnect, retryStrategy, ...redisOptions } = options;
      const clusterRetryStrategy = retryStrategy && { clusterRetryStrategy: retryStrategy };
      return new Servers([...hosts], { redisOptions, lazyConnect, ...clusterRetryStrategy }, silence);
    }
  }
}

type ServerOptions = RedisOptions & { replyMapping?: 'legacy' };
type ServersOptions = ClusterOptions & { redisOptions?: ClusterOptions['redisOptions'] & { replyMapping?: 'legacy' } };

class Server extends Redis {
  readonly #silence: RedisSilence | undefined;

  constructor(options: ServerOptions, silence: RedisSilence | undefined) {
    super(options);
    this.#silence = silence;
  }

  override duplicate(changes?: Partial<RedisOptions>): Redis {
    return super.duplicate({ ...changes, ...waiting(this.#silence) });
  }
}

class Servers extends Cluster {
  readonly #silence: RedisSilence | undefined;

  constructor(nodes: ClusterNode[], options: ServersOptions, silence: RedisSilence | undefined) {
    super(nodes, options);
    this.#silence = silence;
  }

  override duplicate(nodes?: ClusterNode[], changes?: ClusterOptions): Cluster {
    const redisOptions = { ...changes?.redisOptions, ...waiting(this.#silence), replyMapping: 'legacy' as const };
    return super.duplicate(nodes, { ...changes, redisOptions });
  }
}

function waiting(silence: RedisSilence | undefined): Pick<RedisOptions, 'socketTimeout'> {
  return silence === undefined ? {} : { socketTimeout: silence.waitMsMax };
}

/**
 * Returns the prefix of BullMQ's keys, if it is not BullMQ's own choice: all keys of a queue must be on one node of a
 * cluster, which those with the same text in braces are.
 */
export function keyPrefixOf(url: string): string | undefined {
  return readRedisAddress(url)?.kind === 'cluster' ? '{bull}' : undefined;
}
