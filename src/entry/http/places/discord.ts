import type { AppContext } from '#entry/compose.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { AppError } from '#kernel/errors.ts';
import { isFromDiscord, NOTE_BUTTON, parseDiscord } from '#notify/places/discord/presses.ts';
import { answerCommand } from '#entry/http/places/command.ts';
import { answerPress, callerOf, type ChatPerson } from '#entry/http/places/press.ts';
import { answerReply } from '#entry/http/places/slack.ts';
import { NOTE_LENGTH_MAX } from '#modules/pages/decide/limits.ts';
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
export async function answerDiscord(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
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
  const data = { content, flags: EPHEMERAL, allowed_mentions: { parse: [] } };
  return { type: MESSAGE, data };
}
