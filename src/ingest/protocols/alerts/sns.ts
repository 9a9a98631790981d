import { cutDepth } from '#modules/alerts/decide/shrink_json.ts';
import { verify, X509Certificate } from 'node:crypto';

import { WEBHOOK_TEMPLATES } from '#modules/alerts/decide/mapping.ts';
import { SOURCE_NAME_LENGTH_MAX } from '#modules/alerts/decide/tools.ts';
import type { AlertAnswer, AlertEndpoint, AlertReading } from '#ingest/protocols/alerts/alert_protocol.ts';
import { isRecord, type JsonRecord, textIn } from '#ingest/protocols/alerts/json_reading.ts';
import { mappedAlert } from '#ingest/protocols/alerts/webhook.ts';
import { AppError, invalidInput } from '#kernel/errors.ts';
import type { Temporal } from '#kernel/time.ts';

const NOTIFICATION = ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'];
const CONFIRMATION = ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'];

/** Properties that the signature of each type of message covers, in their order; one that is absent is left out. */
const SIGNED: Readonly<Record<string, readonly string[]>> = {
  Notification: NOTIFICATION,
  SubscriptionConfirmation: CONFIRMATION,
  UnsubscribeConfirmation: CONFIRMATION,
};

const ALGORITHMS: Readonly<Record<string, string>> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' };

/** Messages of a topic of AWS SNS, signed with version 1 or 2. What a CloudWatch alarm says is read by its template. */
export const SNS_ENDPOINT: AlertEndpoint = {
  protocol: 'sns',
  methods: ['POST'],
  pattern: 'sns/:key',
  keyOf: ({ path }) => path['key'] ?? null,
  read({ body, headers, now }) {
    if (headers['x-amz-sns-rawdelivery'] === 'true') {
      throw invalidInput([
        {
          path: '',
          message: 'was delivered raw, without a signature: switch raw message delivery off for this subscription',
        },
      ]);
    }
    const message = requireMessage(body);
    return {
      kind: 'certified',
      source: { protocol: 'sns', name: topicOf(message) },
      certificateUrl: requireAddress(message, 'SigningCertURL', /^\/[\w.-]{1,200}\.pem$/),
      toReading: (certificate) => {
        requireSignature(message, certificate, now);
        return readVerified(message);
      },
    };
  },
  refuse: ({ status, message }) => ({ status, body: { status: 'error', message } }),
};

function requireMessage(body: unknown): JsonRecord {
  if (!isRecord(body)) throw invalidInput([{ path: '', message: 'is no message of SNS: send a JSON object' }]);
  const faults = ['Type', 'MessageId', 'TopicArn', 'Message', 'Timestamp', 'Signature', 'SigningCertURL']
    .filter((name) => typeof body[name] !== 'string')
    .map((name) => ({ path: name, message: 'is required: this is no message of SNS' }));
  const type = textIn(body, 'Type') ?? '';
  if (faults.length === 0 && !Object.hasOwn(SIGNED, type)) {
    faults.push({ path: 'Type', message: `is one of ${Object.keys(SIGNED).join(', ')}` });
  }
  if (faults.length === 0 && !Object.hasOwn(ALGORITHMS, textIn(body, 'SignatureVersion') ?? '')) {
    faults.push({ path: 'SignatureVersion', message: 'is 1 or 2' });
  }
  if (faults.length > 0) throw invalidInput(faults);
  return body;
}

/** Returns an address of SNS itself; throws `forbidden` for any other. */
function requireAddress(message: JsonRecord, name: string, path: RegExp): string {
  const text = textIn(message, name) ?? '';
  const url = URL.parse(text);
  const isOfSns =
    url?.protocol === 'https:' &&
    /^sns\.[a-z]{2}(-[a-z]{1,20}){1,3}-\d{1,2}\.amazonaws\.com$/.test(url.hostname) &&
    url.port === '' &&
    url.username === '' &&
    url.password === '' &&
    path.test(url.pathname);
  if (!isOfSns) throw new AppError('forbidden', `${name} is no address at https://sns.<region>.amazonaws.com`);
  return url.href;
}

function requireSignature(message: JsonRecord, certificate: string, now: Temporal.Instant): void {
  const names = SIGNED[textIn(message, 'Type') ?? ''] ?? [];
  const algorithm = ALGORITHMS[textIn(message, 'SignatureVersion') ?? ''] ?? '';
  const text = names
    .filter((name) => typeof message[name] === 'string')
    .map((name) => `${name}\n${String(message[name])}\n`)
    .join('');
  const signature = Buffer.from(textIn(message, 'Signature') ?? '', 'base64');
  if (!isSigned(Buffer.from(text), { certificate, algorithm, signature }, now)) {
    throw new AppError('forbidden', 'the signature of the message is not that of AWS SNS');
  }
}

function isSigned(
  bytes: Buffer,
  {
    certificate,
    algorithm,
    signature,
  }: { readonly certificate: string; readonly algorithm: string; readonly signature: Buffer },
  now: Temporal.Instant,
): boolean {
  try {
    const { publicKey, validToDate, validFromDate } = new X509Certificate(certificate);
    const nowMs = now.epochMilliseconds;
    if (nowMs > validToDate.getTime() || nowMs < validFromDate.getTime()) return false;
    return publicKey.asymmetricKeyType === 'rsa' && verify(algorithm, bytes, publicKey, signature);
  } catch {
    return false;
  }
}

const DONE: AlertAnswer = { status: 200, body: { status: 'success' } };
const IGNORED: AlertAnswer = { status: 200, body: { status: 'ignored' } };

function readVerified(message: JsonRecord): AlertReading {
  switch (message['Type']) {
    case 'Notification':
      return {
        kind: 'mapped',
        name: topicOf(message),
        toReading: (mapping) => {
          const body = alarmOf(message);
          const source = { protocol: 'sns', name: topicOf(message) } as const;
          const template = 'NewStateValue' in body ? WEBHOOK_TEMPLATES.cloudwatch : WEBHOOK_TEMPLATES.any;
          const event = mappedAlert(body, mapping ?? template, [alarmLink(body)]);
          if (event === null) return { kind: 'answer', answer: IGNORED };
          return { kind: 'alerts', sent: [{ source, event }], answer: () => DONE };
        },
      };
    case 'SubscriptionConfirmation': {
      const url = requireAddress(message, 'SubscribeURL', /^\/$/);
      return { kind: 'visit', url, answer: () => ({ status: 200, body: { status: 'confirmed' } }) };
    }
    default:
      return { kind: 'answer', answer: IGNORED };
  }
}

/** The message as JSON, or as text with its subject. An alarm says in its title why it changed its state. */
function alarmOf(message: JsonRecord): JsonRecord {
  const text = textIn(message, 'Message') ?? '';
  const [subject, topic, at] = [textIn(message, 'Subject'), textIn(message, 'TopicArn'), textIn(message, 'Timestamp')];
  const said = parsed(text);
  if (said === null)
    return { title: subject ?? text.split('\n', 1)[0], key: subject ?? text, message: text, topic, at };
  if (typeof said['NewStateValue'] === 'string') return { ...said, topic };
  return { ...(subject !== null && { subject }), topic, ...said };
}

function parsed(text: string): JsonRecord | null {
  try {
    const value = cutDepth(JSON.parse(text));
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

/** Address of an alarm in the console of AWS, from its name and the region of its ARN. */
function alarmLink(body: JsonRecord): { readonly href: string | null; readonly text: string } {
  const region = /^arn:aws[\w-]*:cloudwatch:([a-z0-9-]{4,30}):/.exec(textIn(body, 'AlarmArn') ?? '')?.[1];
  const name = textIn(body, 'AlarmName');
  const href =
    region === undefined || name === null
      ? null
      : `https://console.aws.amazon.com/cloudwatch/home?region=${region}#alarmsV2:alarm/${encodeURIComponent(name.toWellFormed())}`;
  return { href, text: 'Alarm' };
}

function topicOf(message: JsonRecord): string {
  return (textIn(message, 'TopicArn')?.split(':').at(-1) ?? '').slice(0, SOURCE_NAME_LENGTH_MAX).toWellFormed();
}
