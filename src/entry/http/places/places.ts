import type { IncomingHttpHeaders } from 'node:http';

import type { FastifyInstance } from 'fastify';

import { requirePermission, runAction } from '#actions/run_action.ts';
import { countTry, forgetTries } from '#auth/sign_in_limiter.ts';
import type { AppContext } from '#entry/compose.ts';
import { ANONYMOUS_BODY_BYTES_MAX, SLACK_BODY_BYTES_MAX } from '#entry/http/connections/body_budget.ts';
import {
  answerPress,
  callerOf,
  type ChatPerson,
  countPress,
  refusedSentence,
  sentenceOf,
  unlinkedSentence,
} from '#entry/http/places/press.ts';
import { parseRawBodies, rawBodyOf } from '#entry/http/request_body.ts';
import { AppError } from '#kernel/errors.ts';
import { addIncidentNote } from '#modules/incidents/operations/notes.ts';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
import { cutText, type MessageReference } from '#modules/places/decide/place_content.ts';
import {
  answersUrlOf,
  placeDeclarationOf,
  PLACES_PATH,
  type PlaceSettings,
} from '#modules/places/decide/place_kinds.ts';
import type { ChatPlace } from '#modules/places/decide/chat_places.ts';
import { LINK_TRIES, linkChatAccount } from '#modules/places/link_chat_account.ts';
import { openSettings } from '#modules/places/view.ts';
import type { PlaceRow } from '#modules/places/store/place_store.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import { whoIsOnCall } from '#modules/schedules/operations/who_is_on_call.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';
import { discordText, isFromDiscord, NOTE_BUTTON, parseDiscord } from '#notify/places/discord.ts';
import { mattermostText, openMattermostForm, parseMattermost } from '#notify/places/mattermost.ts';
import type { VendorCommand, VendorPress } from '#notify/places/presses.ts';
import { parseSlackRequest, slackFault, slackText, sendEphemeral } from '#notify/places/slack.ts';
import { isFromTelegram, parseTelegram, telegramAnswer } from '#notify/places/telegram.ts';

interface TypedCommand extends ChatPerson {
  /** Text behind the name of the command. */
  readonly text: string;
}

/** Teams that one answer names. */
const TEAMS_MAX = 20;

const HELP =
  'Type /oncall to see who is on call, or /oncall link CODE to link your account with a code of the console.';

/** Answers `/oncall`: who is on call, or linking an account by a code. */
export async function answerCommand(context: AppContext, command: TypedCommand): Promise<string> {
  const [word = '', ...rest] = command.text.split(/\s+/);
  if (word.toLowerCase() === 'link') return await linkAccount(context, command, rest.join(' '));
  return word === '' ? await onCallText(context, command) : HELP;
}

async function linkAccount(context: AppContext, { place, kind, account, name, origin }: TypedCommand, typed: string) {
  const { orgId } = place;
  const tries = { key: `chat_link:${orgId}:${kind}:${account}`, ...LINK_TRIES };
  const stores = storesOf(context.db.session());
  const counted = await countTry(stores, tries, context.clock.now());
  if (!counted.isAllowed) return 'Too many wrong codes. Try again in 15 minutes.';
  const secretRole = place.settingsRole ?? 'admin';
  const chat = { orgId, placeId: place.id, kind, account, name: name.slice(0, 100).toWellFormed(), secretRole };
  const linking = inUnitOfWork(context.actions, (unit) => linkChatAccount(unit, chat, typed, origin));
  const linkedTo = await linking.catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'forbidden') return error;
    throw error;
  });
  if (linkedTo instanceof AppError) return sentenceOf(linkedTo);
  if (linkedTo === null) return 'This code is wrong, or older than ten minutes. Get another one in the console.';
  await forgetTries(stores, tries.key);
  return `Linked: buttons that you press in ${placeDeclarationOf(kind).title} act for ${linkedTo} from now on.`;
}

async function onCallText(context: AppContext, command: TypedCommand): Promise<string> {
  const speaking = await callerOf(context, command, 'look');
  if ('refusal' in speaking) return speaking.refusal;
  const { caller } = speaking;
  await requirePermission(context.actions, whoIsOnCall, caller, command.origin);
  const { teams, onCall } = storesOf(context.db.session());
  const listed = await teams.list(caller.orgId, TEAMS_MAX);
  // Only who it is now: the shifts of weeks ahead of twenty teams are work that a chat must not ask for.
  const onCallOf = await onCall.ofTeams(
    caller.orgId,
    listed.map(({ id }) => id),
    context.clock.now(),
  );
  const lines = listed.map(({ id, name }) => {
    const { schedules, people } = onCallOf(id);
    const names = peopleOnCall(schedules.map((schedule) => schedule.onCall)).map((userId) => people.get(userId)?.name);
    return `${name}: ${names.length === 0 ? 'nobody' : names.join(', ')}`;
  });
  return lines.length === 0 ? 'There is no team yet.' : `On call now:\n${lines.join('\n')}`;
}

const REFUSALS = {
  unsigned: 'the signature of this request is missing',
  forged: 'the signature of this request is wrong',
  stale: 'this request is older than five minutes',
} as const;

/** Answers presses, commands and events of a Slack app. Throws `forbidden` for what Slack did not sign within five minutes. */
async function answerSlack(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  const nowMs = context.clock.now().epochMilliseconds;
  const sent = { timestamp: headers['x-slack-request-timestamp'], signature: headers['x-slack-signature'] };
  const fault = slackFault(settings.signingSecret ?? '', sent, body, nowMs);
  if (fault !== null) throw new AppError('forbidden', REFUSALS[fault]);
  const asked = parseSlackRequest(body);
  if (asked === null) return { status: 200 };
  if (asked.kind === 'challenge') return { status: 200, body: { challenge: asked.challenge } };
  if (asked.kind === 'reply') {
    const { account, channel, threadTs, ts: replyTs, text } = asked;
    const replyId = `slack-${channel}-${replyTs.replace('.', '-')}`;
    await answerReply(context, {
      place,
      kind: 'slack',
      account,
      answered: { channel, ts: threadTs },
      replyId,
      text,
      origin,
    });
    return { status: 200 };
  }
  if (asked.kind === 'command') {
    const text = await answerCommand(context, { place, ...asked, kind: 'slack', origin });
    return { status: 200, body: { response_type: 'ephemeral', text: slackText(text) } };
  }
  const { channel, ts, user } = asked;
  const text = await answerPress(context, {
    place,
    ...asked,
    kind: 'slack',
    origin,
    isOf: (reference) => reference['channel'] === channel && reference['ts'] === ts,
  });
  const { http, bases } = context.places;
  await sendEphemeral({ http, bases, settings, nowMs }, { channel, user, text: slackText(text) });
  return { status: 200 };
}

/** Somebody's answer to the message of an incident; the vendor has signed who wrote it. */
interface WrittenReply extends Omit<ChatPerson, 'name'> {
  readonly answered: MessageReference;
  /** Letters, digits, `-` and `_` that differ for each reply, and are the same whenever the vendor tells of it. */
  readonly replyId: string;
  /** Text that is not blank. */
  readonly text: string;
}

/** Sentence for whoever wrote, and whether it is a note now. */
interface ReplyAnswer {
  readonly isNote: boolean;
  readonly text: string;
}

const refusedBy = (text: string): ReplyAnswer => ({ isNote: false, text });

/**
 * Makes a note of the incident out of a reply, by the operation that everybody uses. Chats are full of what is no note,
 * so nothing is done or recorded about a reply of somebody whose account is not linked or whose role writes no notes,
 * about an answer to a message of somebody else, and about a reply that the vendor tells of again. Returns a sentence
 * for chats in which a reply is written for Tocsin alone.
 */
async function answerReply(context: AppContext, reply: WrittenReply): Promise<ReplyAnswer> {
  const { kind, account, answered, replyId, text, origin } = reply;
  const { orgId } = reply.place;
  const stores = storesOf(context.db.session());
  const linked = await stores.chatAccounts.find({ orgId, kind, account });
  if (linked === null) return refusedBy(unlinkedSentence(kind));
  const message = await stores.places.findIncidentOf(orgId, kind, answered);
  if (message === null) return refusedBy('This message is none of Tocsin. Nothing was changed.');
  // The secret of the place that told of the reply says who wrote it.
  const { settingsRole } = reply.place;
  const place = { ...(await stores.places.get(orgId, message.placeId)), settingsRole };
  const person = { place, kind, account, name: linked.name ?? '', origin };
  const speaking = await callerOf(context, person, 'more');
  if ('refusal' in speaking) return refusedBy(speaking.refusal);
  if (!speaking.caller.permissions.has(addIncidentNote.permission))
    return refusedBy('Your role does not allow this. Nothing was changed.');
  const note = { incidentId: message.incidentId, text: cutText(text, NOTE_LENGTH_MAX), requestKey: replyId };
  try {
    await runAction(context.actions, addIncidentNote, speaking.caller, note, origin, async (unit) => {
      await countPress(unit, person, replyId);
    });
    return { isNote: true, text: 'It is a note of the incident now. Thank you.' };
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    context.log.info({ placeId: place.id, err: error.message }, 'a reply in a chat became no note');
    return refusedBy(refusedSentence(error));
  }
}

/** Returns what a vendor is told of a press, or of a command. */
async function answerAsked(
  context: AppContext,
  person: Pick<ChatPerson, 'place' | 'kind' | 'origin'>,
  asked: VendorPress | VendorCommand,
): Promise<string> {
  if (asked.kind === 'command') return await answerCommand(context, { ...asked, ...person });
  return await answerPress(context, {
    ...asked,
    ...person,
    isOf: (reference) => isSameMessage(reference, asked.message),
  });
}

function isSameMessage(a: MessageReference, b: MessageReference): boolean {
  return Object.entries(a).every(([name, id]) => b[name] === id);
}

/** Types of Discord's answers: to its check of the address, a message, and a form. */
const PONG = 1;
const MESSAGE = 4;
const FORM = 9;
/** Form of a note: a row with a text of several lines. */
const NOTE_FORM = {
  custom_id: NOTE_BUTTON,
  title: 'Note of the incident',
  components: [
    {
      type: 1,
      components: [
        { type: 4, custom_id: 'text', style: 2, label: 'Note', max_length: NOTE_LENGTH_MAX, required: true },
      ],
    },
  ],
};
/** Flag of a message that only its receiver sees. */
const EPHEMERAL = 64;

/**
 * Answers interactions of a Discord application. Throws `unauthenticated` for what Discord did not sign within five
 * minutes: Discord tries that before it takes the address.
 */
async function answerDiscord(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  const sent = { timestamp: headers['x-signature-timestamp'], signature: headers['x-signature-ed25519'] };
  const nowMs = context.clock.now().epochMilliseconds;
  if (!isFromDiscord(settings.publicKey ?? '', sent, body, nowMs)) {
    throw new AppError('unauthenticated', 'the signature of this request is missing, wrong or older than five minutes');
  }
  const asked = parseDiscord(body);
  if (asked?.kind === 'ping') return { status: 200, body: { type: PONG } };
  const person = { place, kind: 'discord', origin } as const;
  if (asked?.kind === 'form') {
    const speaking = await callerOf(context, { ...asked, ...person }, 'more');
    if (!('refusal' in speaking)) return { status: 200, body: { type: FORM, data: NOTE_FORM } };
    return { status: 200, body: messageOf(speaking.refusal) };
  }
  const content =
    asked === null
      ? 'Tocsin does not know this.'
      : asked.kind === 'reply'
        ? (await answerReply(context, { ...asked, ...person, answered: asked.message })).text
        : await answerAsked(context, person, asked);
  return { status: 200, body: messageOf(content) };
}

/** Returns a message that only whoever asked sees. */
function messageOf(content: string): object {
  const data = { content: discordText(content), flags: EPHEMERAL, allowed_mentions: { parse: [] } };
  return { type: MESSAGE, data };
}

/** Characters of an answer to a press. */
const ALERT_LENGTH_MAX = 200;

/** Answers updates of a bot by a call in the answer itself. Throws `forbidden` for what lacks the secret token. */
async function answerTelegram(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  if (!isFromTelegram(settings.signingSecret ?? '', headers['x-telegram-bot-api-secret-token'])) {
    throw new AppError('forbidden', 'the secret token of this request is missing or wrong');
  }
  const asked = parseTelegram(body);
  if (asked === null) return { status: 200 };
  const person = { place, kind: 'telegram', origin } as const;
  if (asked.kind === 'reply') {
    // A chat is full of answers that are no notes, so that nobody is told.
    await answerReply(context, { ...asked, ...person, answered: asked.message });
    return { status: 200 };
  }
  const text = await answerAsked(context, person, asked);
  if (asked.kind === 'command')
    return { status: 200, body: { method: 'sendMessage', chat_id: asked.chat, text: telegramAnswer(text) } };
  const answer = { callback_query_id: asked.queryId, text: text.slice(0, ALERT_LENGTH_MAX), show_alert: true };
  return { status: 200, body: { method: 'answerCallbackQuery', ...answer } };
}

/** Answers presses and the slash command of Mattermost. Throws `forbidden` for what has not the mark of its button. */
async function answerMattermost(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, body, origin } = request;
  const nowMs = context.clock.now().epochMilliseconds;
  const asked = parseMattermost(body, settings, nowMs);
  if (asked === null)
    throw new AppError('forbidden', 'this request does not come from a button, form or command of this place');
  const person = { place, kind: 'mattermost', origin } as const;
  if (asked.kind === 'form') {
    const speaking = await callerOf(context, { ...asked, ...person }, 'more');
    if ('refusal' in speaking) return { status: 200, body: { ephemeral_text: mattermostText(speaking.refusal) } };
    const url = answersUrlOf(context.config.baseUrl, place);
    const fault = await openMattermostForm({ http: context.places.http, settings, url, nowMs }, asked);
    return { status: 200, body: fault === null ? {} : { ephemeral_text: `No form was opened: ${fault}` } };
  }
  if (asked.kind === 'reply') {
    const { isNote, text } = await answerReply(context, { ...asked, ...person, answered: asked.message });
    return { status: 200, body: isNote ? {} : { error: text } };
  }
  const text = mattermostText(await answerAsked(context, person, asked));
  return asked.kind === 'command'
    ? { status: 200, body: { response_type: 'ephemeral', text } }
    : { status: 200, body: { ephemeral_text: text } };
}

/** Answers each vendor that sends presses and commands; each checks the signature before it reads the rest. */
const ANSWERS: Readonly<Record<ChatPlace, (context: AppContext, request: VendorRequest) => Promise<VendorAnswer>>> = {
  slack: answerSlack,
  mattermost: answerMattermost,
  discord: answerDiscord,
  telegram: answerTelegram,
};

/** Mounts the addresses to which vendors send presses of buttons, commands and replies. */
export async function mountPlaces(app: FastifyInstance, context: AppContext): Promise<void> {
  await app.register(async (scope) => {
    parseRawBodies(scope);
    for (const [kind, answer] of Object.entries(ANSWERS)) {
      scope.post<{ Params: { placeId: string } }>(
        `${PLACES_PATH}/:placeId/${kind}`,
        { bodyLimit: kind === 'slack' ? SLACK_BODY_BYTES_MAX : ANONYMOUS_BODY_BYTES_MAX },
        async (request, reply) => {
          const { placeId } = request.params;
          // No store can be asked for U+0000.
          const place = placeId.includes('\0') ? null : await storesOf(context.db.session()).places.find(placeId);
          if (place === null || place.kind !== kind) throw new AppError('not_found', 'there is no such place');
          const answered = await answer(context, {
            place,
            settings: openSettings(context.places.cipher, place.sealed),
            headers: request.headers,
            body: rawBodyOf(request).toString('utf8'),
            origin: { requestId: request.id, address: request.ip },
          });
          void reply.code(answered.status).header('cache-control', 'no-store');
          return answered.body === undefined ? reply.send() : reply.type('application/json').send(answered.body);
        },
      );
    }
  });
}

/** A request of a vendor, before anything in it is believed. */
interface VendorRequest {
  readonly place: PlaceRow;
  readonly settings: PlaceSettings;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly origin: { readonly requestId: string; readonly address: string };
}

/** Answer to a vendor: its status, and its body if there is one. */
interface VendorAnswer {
  readonly status: number;
  readonly body?: object;
}
