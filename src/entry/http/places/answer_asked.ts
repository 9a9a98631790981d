import type { AppContext } from '#entry/compose.ts';
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
