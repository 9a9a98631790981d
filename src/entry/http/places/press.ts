import { runAction } from '#actions/run_action.ts';
import type { AnyOperation } from '#actions/action_context.ts';
import type { AppContext } from '#entry/compose.ts';
import { refusalSentence, speakFor } from '#entry/http/answers/answer_as_person.ts';
import type { RequestOrigin } from '#kernel/caller.ts';
import { AppError } from '#kernel/errors.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { acknowledgeIncident } from '#modules/incidents/operations/acknowledge_incident.ts';
import { escalateIncident } from '#modules/incidents/operations/escalate_incident.ts';
import { resolveIncident } from '#modules/incidents/operations/resolve_incident.ts';
import type { MessageReference, Press } from '#modules/places/decide/place_content.ts';
import { placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import type { ChatPlace } from '#modules/places/decide/chat_places.ts';
import type { ChatAccountRow, PlaceRow } from '#modules/places/store/place_store.ts';
import { storesOf, type UnitOfWork } from '#modules/stores.ts';

/** Somebody who presses a button or types a command in a chat; the vendor has signed who it is. */
export interface ChatPerson {
  readonly place: PlaceRow;
  readonly kind: ChatPlace;
  readonly account: string;
  readonly name: string;
  readonly origin: RequestOrigin;
}

interface PressedButton extends ChatPerson {
  readonly pressId: string;
  readonly press: Press;
  readonly incidentId: string;
  readonly stepIndex: number | null;
  /** Whether the button belongs to this message. */
  readonly isOf: (reference: MessageReference) => boolean;
}

const OPERATIONS: Readonly<Record<Press, AnyOperation>> = {
  acknowledge: acknowledgeIncident,
  resolve: resolveIncident,
  escalate: escalateIncident,
};

const DONE: Readonly<Record<Press, string>> = {
  acknowledge: 'Acknowledged. Thank you.',
  resolve: 'Resolved. Thank you.',
  escalate: 'Escalated: the next step fires now.',
};

const DONE_BEFORE: Readonly<Record<Press, string>> = {
  acknowledge: 'It was acknowledged already. Nothing was changed.',
  resolve: 'It was resolved already. Nothing was changed.',
  escalate: 'This step has fired already. Nothing was changed.',
};

/** Presses of an account that are remembered: one that is replayed is among them. */
const PRESSES_KEPT = 50;

/**
 * Does what a button says for the person whose chat account is linked, by the operation that everybody uses, and
 * returns a sentence for them. Nothing is done for an account that nobody has linked, for a button that belongs to no
 * message of this organization, and for a press that was counted already.
 */
export async function answerPress(context: AppContext, pressed: PressedButton): Promise<string> {
  const { place, kind, press, incidentId, stepIndex, isOf, origin } = pressed;
  const { places } = storesOf(context.db.session());
  const messages = await places.listMessages(place.orgId, kind, incidentId);
  if (!messages.some(({ reference }) => isOf(reference))) {
    return 'This button belongs to no message of Tocsin. Nothing was changed.';
  }
  const speaking = await callerOf(context, pressed, press === 'acknowledge' ? 'acknowledge' : 'more');
  if ('refusal' in speaking) return speaking.refusal;
  const input = press === 'escalate' ? { incidentId, stepIndex: stepIndex ?? 0 } : { incidentId };
  let changes = 0;
  try {
    await runAction(context.actions, OPERATIONS[press], speaking.caller, input, origin, async (unit, made) => {
      changes = made.length;
      await countPress(unit, pressed, pressed.pressId);
    });
    return changes === 0 ? DONE_BEFORE[press] : DONE[press];
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error;
    return refusedSentence(error);
  }
}

/** Remembers a press or a reply of an account. Throws `conflict` for one that is remembered already. */
export async function countPress(
  { stores }: UnitOfWork,
  { place, kind, account: name }: ChatPerson,
  pressId: string,
): Promise<void> {
  const account = await stores.chatAccounts.lock({ orgId: place.orgId, kind, account: name });
  if (account === null) throw new AppError('forbidden', 'this chat account is no longer linked');
  if (account.presses.includes(pressId)) throw new AppError('conflict', 'this press was counted already');
  await stores.chatAccounts.savePresses(account.id, [...account.presses.slice(1 - PRESSES_KEPT), pressId]);
}

export function refusedSentence({ code, message }: AppError): string {
  if (code === 'forbidden') return 'Your role does not allow this. Nothing was changed.';
  if (code === 'not_found') return 'This incident is gone. Nothing was changed.';
  return sentenceOf({ message });
}

export function sentenceOf({ message }: Pick<AppError, 'message'>): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}. Nothing was changed.`;
}

/** Returns the caller for a linked chat account, with the person's current role; or why there is none. */
export async function callerOf(
  context: AppContext,
  { place, kind, account, name }: ChatPerson,
  wants: 'look' | 'acknowledge' | 'more',
): Promise<{ readonly caller: Caller } | { readonly refusal: string }> {
  const linked = await storesOf(context.db.session()).chatAccounts.find({ orgId: place.orgId, kind, account });
  if (linked === null) return { refusal: unlinkedSentence(kind) };
  const { orgId, userId } = linked;
  const chat = { orgId, userId, via: kind, number: null, ...(wants !== 'look' && { secretRole: place.settingsRole }) };
  const speaking = await speakFor(context, chat, wants === 'look' ? 'more' : wants);
  if ('refusal' in speaking) return { refusal: refusalSentence(speaking.refusal, context, { orgId }) };
  return { caller: { ...speaking.caller, actor: actorOf(linked, place, name) } };
}

function actorOf({ userId, account }: ChatAccountRow, { id: placeId }: PlaceRow, name: string): Caller['actor'] {
  const chatAccount = { placeId, account: account ?? '', name: name.slice(0, 100).toWellFormed() };
  return { kind: 'user', userId, apiKeyId: null, chatAccount };
}

/** Returns what somebody has to do first whose account nobody has linked. */
export function unlinkedSentence(kind: ChatPlace): string {
  const { title } = placeDeclarationOf(kind);
  return `Your ${title} account is not linked to Tocsin, so nothing was changed. Get a code in the console (Settings, Places) and type: /oncall link CODE`;
}
