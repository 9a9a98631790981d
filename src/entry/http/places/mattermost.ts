import type { AppContext } from '#entry/compose.ts';
import { answerAsked } from '#entry/http/places/answer_asked.ts';
import type { VendorAnswer, VendorRequest } from '#entry/http/places/vendor_request.ts';
import { AppError } from '#kernel/errors.ts';
import { parseMattermost } from '#notify/places/mattermost/presses.ts';

/** Answers presses and the slash command of Mattermost. Throws `forbidden` for what has not the mark of its button. */
export async function answerMattermost(context: AppContext, request: VendorRequest): Promise<VendorAnswer> {
  const { place, settings, body, origin } = request;
  const asked = parseMattermost(body, settings);
  if (asked === null)
    throw new AppError('forbidden', 'this request does not come from a button or command of this place');
  const text = await answerAsked(context, { place, kind: 'mattermost', origin }, asked);
  return asked.kind === 'command'
    ? { status: 200, body: { response_type: 'ephemeral', text } }
    : { status: 200, body: { ephemeral_text: text } };
}
