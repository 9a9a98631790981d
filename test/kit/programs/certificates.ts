import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** Files in PEM form. */
export interface Certificates {
  readonly caFile: string;
  /** File of another authority, which has signed nothing here. */
  readonly otherCaFile: string;
  readonly certFile: string;
  readonly keyFile: string;
  /** Makes a certificate for 127.0.0.1 whose key is too weak for the OpenSSL of Node. */
  makeWeak(): Pick<Certificates, 'certFile' | 'keyFile'>;
  remove(): void;
}

/** An authority of our own, and a certificate for 127.0.0.1 that it has signed. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-certificates-'));
  chmodSync(folder, 0o755);
  const file = (name: string): string => path.join(folder, name);
  const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc'];
  for (const name of ['ca', 'other']) {
    openssl(
      'req',
      '-x509',
      ...newKey,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.pem`,
      '-days',
      '2',
      '-subj',
      `/CN=${name}`,
    );
  }
  writeFileSync(file('san'), 'subjectAltName=IP:127.0.0.1\n');
  openssl('req', ...newKey, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=server');
  const signed = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'san'];
  openssl('x509', '-req', '-in', 'server.csr', ...signed, '-out', 'server.pem');
  return {
    caFile: file('ca.pem'),
    otherCaFile: file('other.pem'),
    certFile: file('server.pem'),
    keyFile: file('server.key'),
    makeWeak() {
      const weakKey = [
        '-newkey',
        'rsa:1024',
        '-noenc',
        '-keyout',
        'weak.key',
        '-addext',
        'subjectAltName=IP:127.0.0.1',
      ];
      openssl('req', '-x509', ...weakKey, '-out', 'weak.pem', '-days', '2', '-subj', '/CN=weak');
      return { certFile: file('weak.pem'), keyFile: file('weak.key') };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
