import type { SettledBy } from '#core/incidents/incident.ts';
import type { Channel } from '#core/oncall/channel.ts';

/** What each event of a timeline carries. Stored as JSON, so every field is read with care. */
interface Entry {
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const MESSAGE: Record<Channel, string> = { sms: 'SMS', call: 'call', push: 'push message', email: 'mail' };

const REASONS: Readonly<Record<string, string>> = {
  no_targets: 'it names nobody',
  nobody_on_call: 'nobody is on call',
  no_usable_channel: 'nobody has such a channel on and an address for it',
  channel_not_configured: 'its channels are not set up on this server',
  policy_gone: 'its policy was deleted',
  provider_unreachable: 'the provider could not be reached',
  gave_up: 'it could not be sent within five minutes',
};

/** The ids of the users whom a timeline speaks of. */
export function peopleIn(timeline: readonly Entry[]): string[] {
  return timeline.flatMap(({ data }) => {
    const { userId, by } = data as { userId?: unknown; by?: Partial<Record<'userId', unknown>> };
    return [userId, by?.userId].filter((id) => typeof id === 'string');
  });
}

/** One event as a sentence, with people by name. An event of a later version is shown by its name. */
export function storyOf(
  event: string,
  data: Readonly<Record<string, unknown>>,
  names: ReadonlyMap<string, string>,
): string {
  const text = (key: string) => {
    const value = data[key];
    return typeof value === 'string' ? value : '';
  };
  const person = names.get(text('userId')) ?? 'somebody who has left';
  const message = MESSAGE[text('channel') as Channel] ?? 'message';
  const because = data['reason'] === undefined || data['reason'] === null ? '' : `: ${reasonOf(text('reason'))}`;
  switch (event) {
    case 'triggered':
      return `Triggered by the rule "${text('rule')}": ${text('cause')}.`;
    case 'step_fired':
      return `Step ${stepNumber(data)} fired, paging ${plural(Number(data['people'] ?? 0), 'person', 'people')}.`;
    case 'step_skipped':
      return `Step ${stepNumber(data)} reached nobody${because}; the next step fires at once.`;
    case 'page_sent':
      return `${capital(message)} to ${person} sent${inDigest(data)}${data['unconfirmed'] === true ? ', without confirmation by the provider' : ''}.`;
    case 'page_delivered':
      return text('channel') === 'call' ? `${person} answered the call.` : `${capital(message)} to ${person} arrived.`;
    case 'page_failed':
      return `${capital(message)} to ${person} failed${because}.`;
    case 'person_unreachable':
      return `Every channel of ${person} has failed; the next step fires at once.`;
    case 'acknowledged':
      return `Acknowledged by ${settler(data, names)}; escalation is paused.`;
    case 'resolved':
      return `Resolved by ${settler(data, names)}.`;
    default:
      return event.replaceAll('_', ' ');
  }
}

function inDigest(data: Readonly<Record<string, unknown>>): string {
  return data['digest'] === true ? ' in a digest with others' : '';
}

/** A reason of ours in words. */
export function reasonOf(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}

function stepNumber(data: Readonly<Record<string, unknown>>): number {
  return Number(data['stepIndex'] ?? 0) + 1;
}

function settler(data: Readonly<Record<string, unknown>>, names: ReadonlyMap<string, string>): string {
  const by = data['by'] as Partial<SettledBy> | undefined;
  if (by === undefined) return 'somebody';
  if ('userId' in by) return `${names.get(by.userId ?? '') ?? 'somebody who has left'} by ${wayOf(by.via)}`;
  if ('apiKeyId' in by) return `an API key by ${wayOf(by.via)}`;
  return 'Tocsin itself, as its cause is gone';
}

function wayOf(via: string | undefined): string {
  const ways: Readonly<Record<string, string>> = {
    rest: 'the API',
    mcp: 'an agent (MCP)',
    console: 'the console',
    cli: 'the command line',
    sms: 'SMS',
    call: 'phone',
    push: 'push',
    email: 'mail',
  };
  return ways[via ?? ''] ?? 'a rule';
}

function plural(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
