export interface ClickHouseAddress {
  /** See `nodeUrlsOf`. */
  readonly clickhouseUrl: string;
  /** The name of the cluster; absent for one server, and for a service such as ClickHouse Cloud. */
  readonly clickhouseCluster?: string | undefined;
  /** The file with the authority that signed the certificate of ClickHouse; absent, those that Node knows are trusted. */
  readonly clickhouseCaFile?: string | undefined;
}

const FORM = /^(?<head>https?:\/\/(?:[^@/?#]*@)?)(?<hosts>[^@/?#]+)(?<tail>[/?#].*)?$/;

/**
 * The address of each node of `http://user:password@host:8123,host:8123/database`; null for a text that is no such
 * address.
 */
export function nodeUrlsOf(url: string): string[] | null {
  const { head = '', hosts = '', tail = '' } = FORM.exec(url)?.groups ?? {};
  const urls = hosts.split(',').map((host) => `${head}${host}${tail}`);
  // Without a host, what follows would be taken for it.
  return hosts.split(',').every((host) => host !== '') && urls.every(isUrl) ? urls : null;
}

/** Returns the host and port of a node's URL, without user and password. */
export function hostOf(nodeUrl: string): string {
  return new URL(nodeUrl).host;
}

export function databaseOf(url: string): string {
  const [first = ''] = nodeUrlsOf(url) ?? [];
  const { pathname } = new URL(first);
  return decodeURIComponent(pathname.replaceAll('/', '')) || 'default';
}

export function withDatabase(url: string, database: string): string {
  const { head = '', hosts = '', tail = '' } = FORM.exec(url)?.groups ?? {};
  const [, query = ''] = /(\?.*)$/.exec(tail) ?? [];
  return `${head}${hosts}/${encodeURIComponent(database)}${query}`;
}

function isUrl(text: string): boolean {
  try {
    const { hostname, username, password } = new URL(text);
    for (const part of [username, password]) decodeURIComponent(part);
    return hostname !== '';
  } catch {
    return false;
  }
}
