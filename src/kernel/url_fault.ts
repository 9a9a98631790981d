/** Loopback names of this machine: browsers treat them as different origins, people do not. */
export const LOOPBACK_NAMES: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

const NOT_ESCAPED =
  'is not a valid URL: escape special characters in it, those of a password too (# as %23, / as %2F, ? as %3F, @ as %40, % as %25)';

const PARTS =
  /^(?<scheme>[a-z][a-z0-9+.-]*):\/\/(?:(?<account>[^/?#]*)@)?(?<hosts>[^/?#@]*)(?<path>[^#]*)(?:#(?<fragment>.*))?$/is;
/** Host in a list of hosts, with or without a port. */
const HOST = /^(?:\[[0-9a-f:.%]+\]|[^:[\]\s]*)(?::\d{1,5})?$/i;
/** A user and the beginning of a password that are taken for a host and a port. */
const NAME_AND_PORT = /^(?!localhost:)[^.:[\]]*:\d+$/i;

/**
 * Returns what is wrong with the address of a server, without a part of it; null for nothing. A character that is not
 * escaped ends the password early: what follows is taken for a host, a path or nothing, and the address fails long
 * after the start.
 */
export function findUrlFault(url: string): string | null {
  const { scheme = '', account = '', hosts = '', path = '', fragment = '' } = PARTS.exec(url)?.groups ?? {};
  const isPage = /^https?$/i.test(scheme) && !NAME_AND_PORT.test(hosts);
  // Pages may have an @ in their path or query; other addresses, and whatever follows a #, have not.
  const isCutShort = fragment.includes('@') || (!isPage && path.includes('@'));
  const areHosts = hosts.split(',').every((host) => HOST.test(host) && isPort(/:(\d+)$/.exec(host)?.[1]));
  // Pages take \ for /, and a tab or the end of a line is dropped from any address.
  const isChanged = /[\t\r\n]/.test(url) || (/^https?$/i.test(scheme) && account.includes('\\'));
  if (scheme === '' || isCutShort || isChanged || !areHosts || !isDecodable(account)) return NOT_ESCAPED;
  // PostgreSQL may be behind a socket that the path names; a library would take this machine for any other.
  const isNamed = /^postgres/i.test(scheme) || hosts.split(',').every((host) => /^[^:]/.test(host));
  return isNamed ? null : 'names no host';
}

/** Returns what is wrong with the address of this product itself, to which paths are added; null for nothing. */
export function findPublicUrlFault(url: string): string | null {
  const fault = findUrlFault(url);
  if (fault !== null) return fault;
  if (!URL.canParse(url)) return 'is not a valid URL';
  const { username, password, hostname } = new URL(url);
  if (hostname.includes(',')) return 'must name one host';
  if (username !== '' || password !== '') return 'must not name a user or a password: it stands in every message';
  return /[?#]/.test(url) ? 'must end with a host or a path: links go on behind it' : null;
}

const isPort = (port = '0'): boolean => Number(port) <= 65_535;

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
