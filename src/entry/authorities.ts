import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

interface StoreAddresses {
  readonly databaseUrl?: string | undefined;
  readonly databaseCaFile?: string | undefined;
  readonly redisUrl?: string | undefined;
  readonly redisCaFile?: string | undefined;
  readonly clickhouseUrl?: string | undefined;
  readonly clickhouseCaFile?: string | undefined;
  readonly smtpUrl?: string | undefined;
  readonly smtpCaFile?: string | undefined;
}

/** Returns the faults of the configured certificate authority files, each as a sentence. */
export function findAuthorityFaults(config: StoreAddresses): string[] {
  const { databaseUrl, databaseCaFile, redisUrl, redisCaFile, clickhouseUrl, clickhouseCaFile } = config;
  return [
    faultOf('DATABASE_CA_FILE', databaseCaFile),
    databaseCaFile === undefined || !/[?&]sslmode=(disable|no-verify)/.test(databaseUrl ?? '')
      ? null
      : 'DATABASE_URL switches TLS off (sslmode), and DATABASE_CA_FILE is for TLS: remove one of them',
    faultOf('REDIS_CA_FILE', redisCaFile),
    redisCaFile === undefined || (redisUrl ?? 'rediss').startsWith('rediss')
      ? null
      : 'REDIS_CA_FILE is for TLS: let REDIS_URL begin with rediss',
    // The certificate of Debian's Postfix is self-signed.
    faultOf('SMTP_CA_FILE', config.smtpCaFile, { mayBeServer: true }),
    config.smtpCaFile === undefined || config.smtpUrl !== undefined
      ? null
      : 'SMTP_CA_FILE is for the mail server: set SMTP_URL, too',
    faultOf('CLICKHOUSE_CA_FILE', clickhouseCaFile),
    clickhouseCaFile === undefined || (clickhouseUrl ?? 'https:').startsWith('https:')
      ? null
      : 'CLICKHOUSE_CA_FILE is for TLS: let CLICKHOUSE_URL begin with https',
  ].filter((fault) => fault !== null);
}

function faultOf(variable: string, file: string | undefined, { mayBeServer = false } = {}): string | null {
  if (file === undefined) return null;
  let text: Buffer;
  try {
    text = readFileSync(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    return `${variable} names a file that cannot be read (${code}); correct the path, or its permissions`;
  }
  try {
    return new X509Certificate(text).ca || mayBeServer
      ? null
      : `${variable} holds the certificate of a server; name the file of the authority that signed it`;
  } catch {
    return `${variable} names a file without a certificate in PEM form; name that of the authority`;
  }
}

/** Adds the authority file to the address, as PostgreSQL's own clients do; whoever connects checks the certificate. */
export function withAuthority(databaseUrl: string, file: string): string {
  const [head = '', query = ''] = databaseUrl.split('?', 2);
  const parameters = new URLSearchParams(query);
  parameters.set('sslmode', 'verify-full');
  parameters.set('sslrootcert', file);
  return `${head}?${parameters.toString()}`;
}
