import { createECDH, createHash, hkdfSync } from 'node:crypto';
import { isIP } from 'node:net';

import { certificateFault, isNotConnected } from '#kernel/errors.ts';
import { isHeldBack } from '#kernel/held_request.ts';
import type { Id } from '#kernel/ids.ts';
import { proposalText } from '#modules/agents/decide/proposal.ts';
import { INTERNAL_NAME } from '#modules/contacts/decide/subscription_faults.ts';
import { comparisonOf } from '#modules/incidents/decide/comparison.ts';
import { linkTo, PAGES } from '#modules/pages/decide/pages.ts';
import type { RuleGuidance } from '#modules/rules/decide/kind_settings.ts';
import type { AnswerLinks } from '#notify/answer_link.ts';
import type { ChannelSender, Delivery } from '#notify/channel.ts';
import { addressIn } from '#notify/mail/send_mail.ts';
import { digestSummary, newsText, type OutgoingMessage, type PageSubject } from '#notify/message.ts';
import { NUMBER_CHANGED } from '#notify/texts/number_changed_text.ts';
import { withoutLinks } from '#notify/texts/without_links.ts';

/** Contact for push services (`sub` of RFC 8292, 2.1). */
interface PushContact {
  /** An https address, or `mailto:` and one of mail. */
  readonly subject: string;
  /** Whether the operator has set it; false if none is set that a push service accepts, and this one replaces it. */
  readonly isGiven: boolean;
}

/** Reserved for documentation (RFC 2606): a form that push services take, and nobody gets mail. */
const PLACEHOLDER = 'mailto:operator@example.com';

/** Returns the public address, else the sender of mail. Apple's service refuses contacts on hosts that are not public. */
export function pushContact(baseUrl: string, mailFrom: string | null): PushContact {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'https:' && isPublicName(hostname)) return { subject: baseUrl, isGiven: true };
  const address = mailFrom === null ? '' : addressIn(mailFrom).trim();
  const host = address.slice(address.lastIndexOf('@') + 1);
  if (/^[^\s@]+@[^\s@]+$/.test(address) && isPublicName(host)) return { subject: `mailto:${address}`, isGiven: true };
  return { subject: PLACEHOLDER, isGiven: false };
}

/** Names that no public host has: those of tests (RFC 6761), of Tor, and what systems call themselves by default. */
const RESERVED_NAME = /(^|\.)(localdomain|test|invalid|example|onion)$/i;

function isPublicName(hostname: string): boolean {
  const host = hostname.replace(/\.$/, '');
  const isName = host.includes('.') && isIP(host) === 0 && !host.startsWith('[');
  return isName && !INTERNAL_NAME.test(host) && !RESERVED_NAME.test(host);
}

/** Our name towards push services (VAPID, RFC 8292). Browsers subscribe to this public key and no other. */
export interface VapidKeys {
  /** Uncompressed point, base64url, as `PushManager.subscribe` takes it. */
  readonly publicKey: string;
  readonly privateKey: string;
}

/** Order of the group P-256 (SEC 2, secp256r1). */
const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');
/** Seed size: 128 bits more than the order has, so that the remainder is as good as uniform (FIPS 186-5 A.2.1). */
const SEED_BYTES = 48;

/**
 * Derives the keys (HKDF, RFC 5869) from APP_SECRET, so that every process of an installation has the same pair after
 * every start without storing it anywhere. With another APP_SECRET every browser has to subscribe anew.
 */
export function deriveVapidKeys(appSecret: string): VapidKeys {
  const seed = Buffer.from(hkdfSync('sha256', appSecret, 'tocsin', 'vapid', SEED_BYTES));
  const scalar = (BigInt(`0x${seed.toString('hex')}`) % (ORDER - 1n)) + 1n;
  const privateKey = Buffer.from(scalar.toString(16).padStart(64, '0'), 'hex');
  const pair = createECDH('prime256v1');
  pair.setPrivateKey(privateKey);
  return { publicKey: pair.getPublicKey('base64url'), privateKey: privateKey.toString('base64url') };
}

/** A browser that shows messages of this product. */
interface PushSubscription {
  readonly id: Id<'subscription'>;
  /** Address at the browser's push service. Sending takes this address and our private key. */
  readonly endpoint: string;
  readonly p256dh: string;
  readonly auth: string;
}

/** Store of push subscriptions. */
export interface PushSubscriptions {
  /** Lists the browsers that get messages of the organization to the person. */
  listOf(orgId: Id<'org'>, userId: Id<'user'>): Promise<readonly PushSubscription[]>;
  /** Deletes a subscription that its push service no longer knows. */
  remove(subscriptionId: Id<'subscription'>): Promise<void>;
}

/** Posts to the push service of a browser; refuses addresses that are not on the public Internet (`ERR_NOT_PUBLIC`). */
export type PushPost = (
  url: string,
  message: { readonly headers: Readonly<Record<string, string>>; readonly body: Buffer; readonly timeoutMs: number },
) => Promise<{ readonly status: number; readonly retryAfter: string | null }>;

interface PushSettings {
  readonly post: PushPost;
  readonly keys: VapidKeys;
  readonly subscriptions: PushSubscriptions;
  /** Value of `MAIL_FROM`; null if it is not set. */
  readonly mailFrom: string | null;
  readonly baseUrl: string;
}

/** A push service that cannot reach the browser keeps the message so long; afterwards another step has fired. */
const LIFE_SECONDS = 600;
const REQUEST_TIMEOUT_MS = 10_000;

/**
 * Web Push (RFC 8030, 8291, 8292) to every browser of a person that gets messages of the organization; one that takes it is enough. A second try takes the
 * place of a first one that did get through, so that an unknown fate can be tried again without harm.
 */
export function pushSender(settings: PushSettings, links: AnswerLinks): ChannelSender {
  const { subscriptions } = settings;
  return {
    uncertainAttemptsMax: 3,
    load: loadLibrary,
    async send(outgoing) {
      const browsers = await subscriptions.listOf(outgoing.orgId, outgoing.userId);
      const text = JSON.stringify(pushText(outgoing, links, settings.baseUrl));
      const outcomes = await Promise.all(
        browsers.map(async (browser) => {
          const outcome = await sendTo(browser, text, outgoing, settings);
          if (outcome === 'gone') await subscriptions.remove(browser.id);
          return outcome;
        }),
      );
      return best(outcomes.filter((outcome) => outcome !== 'gone'));
    },
    listSent: async () => [],
  };
}

async function sendTo(
  browser: PushSubscription,
  text: string,
  outgoing: OutgoingMessage,
  settings: PushSettings,
): Promise<Delivery | 'gone'> {
  const request = await encrypt(browser, text, outgoing, settings);
  try {
    const { headers, body } = request;
    const answer = await settings.post(request.endpoint, {
      headers,
      body: Buffer.from(body),
      timeoutMs: REQUEST_TIMEOUT_MS,
    });
    return deliveryOfAnswer(answer);
  } catch (error) {
    if (isHeldBack(error)) throw error;
    return deliveryOfError(error);
  }
}

/** Loads the library when it is first needed. */
const loadLibrary = async () => (await import('web-push')).default;

async function encrypt(
  { endpoint, p256dh, auth }: PushSubscription,
  text: string,
  { notificationId }: OutgoingMessage,
  { keys, baseUrl, mailFrom }: PushSettings,
) {
  const webPush = await loadLibrary();
  return webPush.generateRequestDetails({ endpoint, keys: { p256dh, auth } }, text, {
    TTL: LIFE_SECONDS,
    urgency: 'high',
    topic: createHash('sha256').update(notificationId).digest('base64url').slice(0, 32),
    vapidDetails: { subject: pushContact(baseUrl, mailFrom).subject, ...keys },
  });
}

function deliveryOfAnswer({ status, retryAfter }: Awaited<ReturnType<PushPost>>): Delivery | 'gone' {
  if (status >= 200 && status < 300) return { kind: 'accepted', providerId: null };
  if (status === 404 || status === 410) return 'gone';
  const afterSeconds = Number(retryAfter ?? 0);
  const wait = afterSeconds > 0 ? { afterMs: afterSeconds * 1000 } : {};
  // Windows says 406 for too many messages.
  if (status === 429 || status === 406 || status === 408) return { kind: 'retry', reason: 'provider_busy', ...wait };
  // Apple says 400 for a subscription that was made with another key.
  if (status === 400 || status === 401 || status === 403) return { kind: 'rejected', reason: 'provider_refused_push' };
  if (status >= 500) return { kind: 'retry', reason: 'provider_fault', ...wait };
  return { kind: 'rejected', reason: `provider_refused_${status}` };
}

/** A failed connection has sent nothing; after any other fault the message may have been sent. */
function deliveryOfError(error: unknown): Delivery {
  const { code } = error as { readonly code?: unknown };
  if (code === 'ERR_NOT_PUBLIC') return { kind: 'rejected', reason: 'push_address_not_public' };
  const certificate = certificateFault(error);
  if (certificate !== null) return { kind: 'rejected', reason: `provider_https_${certificate}` };
  return isNotConnected(error)
    ? { kind: 'retry', reason: 'provider_unreachable' }
    : { kind: 'uncertain', reason: 'provider_silent' };
}

const FROM_BEST: readonly Delivery['kind'][] = ['accepted', 'uncertain', 'retry', 'rejected'];

function best(outcomes: readonly Delivery[]): Delivery {
  const [first] = outcomes.toSorted((a, b) => FROM_BEST.indexOf(a.kind) - FROM_BEST.indexOf(b.kind));
  return first ?? { kind: 'rejected', reason: 'no_subscription' };
}

/** Notification that the console's service worker shows. A button opens its `url`, which asks once before it acts. */
interface PushText {
  readonly title: string;
  readonly body: string;
  /** A later message with the same tag takes the place of an earlier one. */
  readonly tag: string;
  readonly url: string;
  readonly actions: readonly { readonly action: string; readonly title: string; readonly url: string }[];
}

/** A push message holds some 4,000 bytes in all (RFC 8291 §4); links take 600, and JSON up to six for a character. */
const TITLE_LENGTH_MAX = 200;
/** An address of a runbook that there is room for: half of it would lead nowhere. */
const RUNBOOK_SHOWN = /^[!-~]{1,300}$/;
const DUTY_LENGTH_MAX = 400;
const LISTED_LENGTH_MAX = 80;
const LISTED_MAX = 5;

export function pushText(outgoing: OutgoingMessage, links: AnswerLinks, baseUrl: string): PushText {
  const { message } = outgoing;
  const acknowledge = (title: string) => ({ action: 'acknowledge', title, url: links.urlOf('acknowledge', outgoing) });
  switch (message.kind) {
    case 'page': {
      const { subject, offer, guidance } = message;
      const resolve = { action: 'resolve', title: 'Resolve', url: links.urlOf('resolve', outgoing) };
      return {
        ...aboutIncident(subject, outgoing, baseUrl),
        body: [
          [comparisonOf(subject.details), `Incident ${subject.number}, severity ${subject.severity}.`]
            .filter((part) => part !== null)
            .join('. '),
          ...guidanceLines(guidance),
        ].join('\n'),
        actions: [acknowledge('Acknowledge'), ...(offer === 'acknowledge' ? [] : [resolve])],
      };
    }
    case 'news':
      return {
        ...aboutIncident(message.subject, outgoing, baseUrl),
        body: `Incident ${message.subject.number} ${newsText(message.event, message.by)}`,
        actions: [],
      };
    case 'proposal':
      return {
        ...aboutIncident(message.subject, outgoing, baseUrl),
        tag: outgoing.notificationId,
        body: proposalText(message.proposal).slice(0, TITLE_LENGTH_MAX),
        actions: [{ action: 'answer', title: 'Answer', url: links.proposalUrlOf(outgoing) }],
      };
    case 'digest': {
      const listed = message.items.slice(0, LISTED_MAX);
      return {
        title: digestSummary(message.items),
        body: listed.map(({ subject }) => titleOf(subject, LISTED_LENGTH_MAX)).join('\n'),
        tag: outgoing.notificationId,
        url: linkTo(baseUrl, PAGES.incidents, outgoing.orgId),
        actions: message.items.some(({ news }) => news === null) ? [acknowledge('Acknowledge all')] : [],
      };
    }
    case 'test':
      return {
        title: 'Push from Tocsin reaches you.',
        body: 'Somebody asked for this test in your name. No need to act.',
        tag: outgoing.notificationId,
        url: linkTo(baseUrl, PAGES.me, outgoing.orgId),
        actions: [],
      };
    case 'duty': {
      const { title, body, path } = message;
      const url = linkTo(baseUrl, path, outgoing.orgId);
      return {
        title: title.slice(0, TITLE_LENGTH_MAX),
        body: body.slice(0, DUTY_LENGTH_MAX),
        tag: path,
        url,
        actions: [],
      };
    }
    case 'code':
      return accountText('Your code', message.code, outgoing, baseUrl);
    case 'number_changed':
    case 'member_number_changed':
      return accountText('A phone number was changed', NUMBER_CHANGED[message.kind], outgoing, baseUrl);
  }
}

function guidanceLines(guidance: RuleGuidance | undefined): string[] {
  const { description = null, runbookUrl = null } = guidance ?? {};
  return [
    ...(description === null ? [] : [withoutLinks(withoutLinks(description).slice(0, TITLE_LENGTH_MAX))]),
    ...(runbookUrl === null || !RUNBOOK_SHOWN.test(runbookUrl) ? [] : [`Runbook: ${runbookUrl}`]),
  ];
}

function accountText(
  title: string,
  body: string,
  { notificationId: tag, orgId }: OutgoingMessage,
  baseUrl: string,
): PushText {
  return { title, body, tag, url: linkTo(baseUrl, PAGES.me, orgId), actions: [] };
}

function aboutIncident(subject: PageSubject, { orgId }: OutgoingMessage, baseUrl: string) {
  const url = linkTo(baseUrl, `${PAGES.incidents}/${subject.id}`, orgId);
  return { title: titleOf(subject, TITLE_LENGTH_MAX), tag: subject.id, url };
}

function titleOf({ serviceName, title }: PageSubject, length: number): string {
  const about = `${serviceName}: `.slice(0, length);
  return about + withoutLinks(withoutLinks(title).slice(0, length - about.length));
}
