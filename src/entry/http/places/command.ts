import { requirePermission } from '#actions/run_action.ts';
import { countTry, forgetTries } from '#auth/sign_in_limiter.ts';
import type { AppContext } from '#entry/compose.ts';
import { callerOf, type ChatPerson } from '#entry/http/places/press.ts';
import { placeDeclarationOf } from '#modules/places/decide/place_kinds.ts';
import { LINK_TRIES, linkChatAccount } from '#modules/places/link_chat_account.ts';
import { peopleOnCall } from '#modules/schedules/decide/layered_shifts.ts';
import { whoIsOnCall } from '#modules/schedules/operations/who_is_on_call.ts';
import { storesOf } from '#modules/stores.ts';
import { inUnitOfWork } from '#modules/unit_of_work.ts';

/** A command typed in a chat. */
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
  const chat = { orgId, placeId: place.id, kind, account, name: name.slice(0, 100).toWellFormed() };
  const linkedTo = await inUnitOfWork(context.actions, (unit) => linkChatAccount(unit, chat, typed, origin));
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
