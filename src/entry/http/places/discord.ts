import type { AppContext } from '#entry/compose.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { AppError } from '#kernel/errors.ts';
import { isFromDiscord, parseDiscord } from '#notify/places/discord/presses.ts';
import { answerCommand } from '#entry/http/places/command.ts';
import { answerPress, type ChatPerson } from '#entry/http/places/press.ts';
import type { MessageReference } from '#modules/places/decide/place_content.ts';
import type { VendorCommand, VendorPress } from '#notify/places/presses.ts';

/** Returns what a vendor is told of a press, or of a command. */
export async function answerAsked(
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

/** Types of Discord's answers: to its check of the address, and a message. */
const PONG = 1;
const MESSAGE = 4;
/** Flag of a message that only its receiver sees. */
const EPHEMERAL = 64;

/**
 * Answers interactions of a Discord application. Throws `unauthenticated` for what Discord did not sign within five
 * minutes: Discord tries that before it takes the address.
 */
export async function answerDiscord(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, headers, body, origin } = request;
  const sent = { timestamp: headers['x-signature-timestamp'], signature: headers['x-signature-ed25519'] };
  const nowMs = context.clock.now().epochMilliseconds;
  if (!isFromDiscord(settings.publicKey ?? '', sent, body, nowMs)) {
    throw new AppError('unauthenticated', 'the signature of this request is missing, wrong or older than five minutes');
  }
  const asked = parseDiscord(body);
  if (asked?.kind === 'ping') return { status: 200, body: { type: PONG } };
  const content =
    asked === null
      ? 'Tocsin does not know this.'
      : await answerAsked(context, { place, kind: 'discord', origin }, asked);
  const data = { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
  return { status: 200, body: { type: MESSAGE, data } };
}
