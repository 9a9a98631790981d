import { execFileSync } from 'node:child_process';
import { createSign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const SIGNED = ['Message', 'MessageId', 'SubscribeURL', 'Subject', 'Timestamp', 'Token', 'TopicArn', 'Type'];

export const CERTIFICATE_URL = 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123abcd.pem';

/** A double of a topic of AWS SNS, with a certificate of its own. */
export interface SnsTopic {
  readonly certificate: string;
  /** A message as SNS sends it; what is given replaces properties, `undefined` leaves one out. */
  sign(message: Readonly<Record<string, string | undefined>>, version?: '1' | '2'): Record<string, string>;
}

export function makeSnsTopic(): SnsTopic {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-sns-'));
  const rsa = ['-newkey', 'rsa:2048', '-noenc', '-keyout', 'key.pem', '-out', 'cert.pem', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...rsa, '-subj', '/CN=sns.amazonaws.com'], { cwd: folder, stdio: 'ignore' });
  const key = readFileSync(path.join(folder, 'key.pem'));
  const certificate = readFileSync(path.join(folder, 'cert.pem'), 'utf8');
  rmSync(folder, { recursive: true });
  return {
    certificate,
    sign(given, version = '2') {
      const { SigningCertURL = CERTIFICATE_URL, ...said } = given;
      const message: Record<string, string> = {
        Type: 'Notification',
        MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
        TopicArn: 'arn:aws:sns:eu-west-1:123456789012:alarms',
        Timestamp: '2026-11-28T12:00:00.000Z',
        ...Object.fromEntries(
          Object.entries(said).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
        ),
      };
      const text = SIGNED.filter((name) => message[name] !== undefined)
        .map((name) => `${name}\n${message[name]}\n`)
        .join('');
      const algorithm = version === '1' ? 'RSA-SHA1' : 'RSA-SHA256';
      const signature = createSign(algorithm).update(text).sign(key, 'base64');
      return { ...message, SignatureVersion: version, Signature: signature, SigningCertURL };
    },
  };
}
