import type { IncidentActor } from './incident.ts';
import { actorText } from './incident_actor.ts';
import { reasonOf, unusedBecause } from '#modules/incidents/decide/reasons.ts';
import { declarationOf, isChannel } from '#modules/contacts/decide/channel.ts';
import { agentEventText } from '#modules/agents/decide/agent_text.ts';

/** An event of a timeline. Its data is stored as JSON, possibly by another version, so no field is trusted. */
interface Entry {
  readonly event: string;
  readonly data: Data;
}

type Data = Readonly<Record<string, unknown>>;

type NameOf = (userId: unknown) => string;

/** Limit on the people named; further ones are counted. */
const NAMED_MAX = 5;

export function userIdsIn(timeline: readonly Entry[]): string[] {
  return timeline.flatMap(({ data }) => {
    const by = recordOf(data['by']);
    const listed = [...recordsOf(data['pages']), ...recordsOf(data['unused'])].map(({ userId }) => userId);
    return [data['userId'], by['userId'], ...listed, ...listOf(data['told']), ...listOf(data['waitsFor'])].filter(
      (id) => typeof id === 'string',
    );
  });
}

/** Pages that went to the phone simulator, by `pageKey`. */
export type SimulatedPages = ReadonlySet<string>;

/** Returns the key of a page in `SimulatedPages`. */
export function pageKey(userId: unknown, channel: unknown, stepIndex: unknown): string {
  return `${String(userId)} ${String(channel)} ${String(stepIndex)}`;
}

/**
 * Describes an event in a sentence or two, with people by name. An event of a later version is shown by its name. What
 * only the phone simulator took has reached nobody.
 */
export function timelineText(
  event: string,
  data: Data,
  names: ReadonlyMap<string, string>,
  simulated: SimulatedPages = new Set(),
): string {
  const nameOf: NameOf = (userId) => names.get(String(userId)) ?? 'somebody who has left';
  switch (event) {
    case 'triggered':
      return `Triggered by ${opener(data)}: ${textOf(data['cause'])}.`;
    case 'declared':
      return `Declared by ${actor(data, nameOf)}.`;
    case 'escalated':
      return `${actor(data, nameOf)} escalated it: step ${stepNumber(data)} fires at once.`;
    case 'reassigned':
      return `Handed over to ${assignee(data, nameOf)} by ${actor(data, nameOf)}; ${afterReassignment(data)}.${newsOfReopening(data, nameOf)}`;
    case 'policy_unreadable':
      return 'The escalation policy cannot be read: whoever is on call is paged, at once and by every channel.';
    case 'nobody_paged':
      return `Nobody is paged${because(data)}.`;
    case 'shadow':
      return 'Opened in shadow mode: nobody is paged about it, and its steps say who would have been.';
    case 'step_in_shadow':
      return `${firedStep(data, nameOf, 'would have paged')} Nobody was paged: shadow mode.${unusedChannels(data, nameOf)}`;
    case 'step_fired':
      return `${firedStep(data, nameOf)}${unusedChannels(data, nameOf)}`;
    case 'step_skipped':
      if (data['reason'] === 'acknowledged') {
        return `Step ${stepNumber(data)} pages nobody: everybody on it has acknowledged.`;
      }
      return `Step ${stepNumber(data)} reached nobody${because(data)}; ${whatFollows(data)}.${unusedChannels(data, nameOf)}`;
    case 'page_delayed':
    case 'page_sent':
    case 'page_delivered':
    case 'page_failed':
      if (event !== 'page_delayed' && simulated.has(pageKey(data['userId'], data['channel'], data['stepIndex']))) {
        return simulatedPage(event, data, nameOf(data['userId']));
      }
      return pageSentence(event, data, nameOf(data['userId']));
    case 'person_unreachable':
      return `Every channel of ${nameOf(data['userId'])} has failed; ${whatFollows(data)}.`;
    case 'acknowledged':
      return `Acknowledged by ${actor(data, nameOf)}; escalation is paused.${consequences(data, nameOf)}`;
    case 'resolved':
      return `Resolved by ${actor(data, nameOf)}${noDataFor(data)}${clearFor(data)}${newGroupStatus(data)}.${consequences(data, nameOf)}`;
    case 'quiet':
      return `In maintenance (${textOf(data['maintenance'])}): if it is still open at ${shownTime(data['until'])}, it pages then.`;
    case 'held':
      return `Outside the hours of its policy: step ${stepNumber(data)} waits until ${shownTime(data['until'])}.`;
    case 'other_policy':
      return `Outside the hours of the policy "${textOf(data['policy'])}": the policy "${textOf(data['runs'])}" runs.`;
    case 'run_changed':
      return `Its pages begin at another time than was planned: the policy "${textOf(data['runs'])}" runs.`;
    case 'repeats':
      return `Nobody has answered: the steps begin again at ${shownTime(data['at'])}, for the ${ordinal(Number(data['round'] ?? 1))} of ${plural(Number(data['times'] ?? 1), 'time', 'times')}.`;
    case 'acknowledged_by_one':
      return `Acknowledged by ${actor(data, nameOf)}, who is paged no more; it waits for ${namesOf(listOf(data['waitsFor']), nameOf)}.`;
    case 'unacknowledged_by_one':
      return `${capital(actor(data, nameOf))} has undone the acknowledgement, and is paged again.`;
    case 'maintenance_ended':
      return 'It is not in maintenance any more: it pages now.';
    case 'grouped':
      return `Opened together with "${textOf(data['title'])}", which pages for both. It pages by itself if that one ends first.`;
    case 'group_joined':
      return `It pages for "${textOf(data['title'])}" as well, which opened shortly after.`;
    case 'pages_itself':
      return 'The incident that paged for this one has ended: it pages by itself now.';
    case 'repaged':
      return `Acknowledged ${plural(Number(data['minutes'] ?? 0), 'minute', 'minutes')} ago and still open: it pages again, from the first step.`;
    case 'flapping':
      return `The rule flaps: it has opened ${Number(data['incidents'] ?? 0)} or more incidents within ${plural(Number(data['flapMinutes'] ?? 0), 'minute', 'minutes')}. This one stays open until the condition has been false for as long.`;
    case 'series_silent':
      return seriesSilent(data);
    case 'reopened':
      return `Reopened by ${actor(data, nameOf)}; ${whatContinues(data)}.${newsOfReopening(data, nameOf)}`;
    case 'restored':
      return `This server was restored from a backup of ${textOf(data['snapshotAt'])}; escalation goes on from there, ${textOf(data['laterMinutes'])} minutes later.`;
    case 'unacknowledged':
      return `The acknowledgement was undone by ${actor(data, nameOf)}; ${whatContinues(data)}.${newsOfReopening(data, nameOf)}`;
    case 'alert_joined':
      return `Another alert from ${textOf(data['tool'])} belongs to it: ${textOf(data['title'])}.`;
    case 'severity_raised':
      return `${textOf(data['tool'])} raised the severity from ${textOf(data['from'])} to ${textOf(data['to'])}${data['pages'] === true ? '; it pages anew, from the first step' : ''}.`;
    case 'severity_changed':
      return `${capital(actor(data, nameOf))} changed the severity from ${textOf(data['from'])} to ${textOf(data['to'])}${data['pages'] === true ? '; it pages anew, from the first step' : ''}.`;
    case 'commander_changed':
      return commanderChanged(data, nameOf);
    case 'no_word':
      return `No word from ${textOf(data['tool'])} since ${shownTime(data['since'])}, though the alert is open. Nobody is paged for that.`;
    case 'word_again':
      return `${textOf(data['tool'])} reports the alert again.`;
    case 'alert_note':
      return `Note in ${textOf(data['tool'])}: ${textOf(data['text'])}`;
    default:
      return agentEventText(event, data, nameOf) ?? event.replaceAll('_', ' ');
  }
}

/** A rule, or the tool whose alert it was. */
function opener(data: Data): string {
  const tool = textOf(data['tool']);
  return tool === '' ? `the rule "${textOf(data['rule'])}"` : `an alert from ${tool}`;
}

function firedStep(data: Data, nameOf: NameOf, does = 'fires, paging'): string {
  const people = Number(data['people'] ?? 0);
  const pages = recordsOf(data['pages']).map(({ userId, channels }) => {
    return {
      name: nameOf(userId),
      by: `by ${joined(listOf(channels).map((channel) => channelOf(channel)?.by ?? 'a channel'))}`,
    };
  });
  if (pages.length === 0 || people > NAMED_MAX) {
    return `Step ${stepNumber(data)} ${does} ${plural(people, 'person', 'people')}.`;
  }
  const alike = [...Map.groupBy(pages, ({ by }) => by)].map(
    ([by, some]) => `${joined(some.map(({ name }) => name))} ${by}`,
  );
  return `Step ${stepNumber(data)} ${does} ${joined(alike)}.`;
}

/** Names the channels of the step that it did not use, so that nobody wonders why a phone did not ring. */
function unusedChannels(data: Data, nameOf: NameOf): string {
  const unused = recordsOf(data['unused']);
  if (unused.length === 0) return '';
  const shown = unused.slice(0, NAMED_MAX).map(({ userId, channel, reason }) => {
    return `${nameOf(userId)} by ${channelOf(channel)?.by ?? 'a channel'} (${unusedBecause(textOf(reason))})`;
  });
  const left = unused.length - shown.length;
  return ` Not ${joined(left > 0 ? [...shown, `${left} more`] : shown, 'nor')}.`;
}

function pageSentence(event: string, data: Data, person: string): string {
  const channel = channelOf(data['channel']);
  const message = `${capital(channel?.message ?? 'message')} to ${person}`;
  switch (event) {
    case 'page_delayed':
      return `${message} could not be sent yet${because(data)}; it is tried again.`;
    case 'page_sent': {
      const digest = data['digest'] === true;
      const unconfirmed = data['unconfirmed'] === true ? ', without confirmation by the provider' : '';
      if (channel?.isCall === true) return `Calling ${person}${digest ? ' about this and others' : ''}${unconfirmed}.`;
      return `${message} sent${digest ? ' in a digest with others' : ''}${unconfirmed}.`;
    }
    case 'page_delivered':
      return channel?.isCall === true ? `${person} answered the call.` : `${message} arrived.`;
    default:
      return failedPage(data, message, person);
  }
}

function simulatedPage(event: string, data: Data, person: string): string {
  const message = `${capital(channelOf(data['channel'])?.message ?? 'message')} to ${person}`;
  if (event === 'page_failed') return `${message} failed at the phone simulator${because(data)}.`;
  return `${message} ${event === 'page_sent' ? 'went to' : 'was taken by'} the phone simulator: nobody was reached.`;
}

function failedPage(data: Data, message: string, person: string): string {
  switch (data['reason']) {
    case 'answering_machine':
      return `Voicemail answered the call to ${person}, who does not count as reached.`;
    case 'no_key_pressed':
      return `The call to ${person} was answered, but no key was pressed: nobody counts as reached.`;
    case 'no_answer':
      return `${person} did not answer the call.`;
    case 'busy':
      return `The line of ${person} was busy.`;
    default:
      return `${message} failed${because(data)}.`;
  }
}

function because(data: Data): string {
  const reason = textOf(data['reason']);
  return reason === '' ? '' : `: ${reasonOf(reason)}`;
}

function whatFollows(data: Data): string {
  switch (data['next']) {
    case 'none':
      return 'no step is left';
    case 'before':
      return 'the next step has fired already';
    default:
      return 'the next step fires at once';
  }
}

function commanderChanged(data: Data, nameOf: NameOf): string {
  const by = capital(actor(data, nameOf));
  const userId = textOf(data['userId']);
  if (userId === '') return `${by} says that nobody leads the response any more.`;
  return recordOf(data['by'])['userId'] === userId
    ? `${by} leads the response.`
    : `${by} let ${nameOf(userId)} lead the response.`;
}

function consequences(data: Data, nameOf: NameOf): string {
  const people = listOf(data['told']);
  const cancelled = Number(data['cancelledMessages'] ?? 0);
  return [
    cancelled === 0
      ? ''
      : ` ${plural(cancelled, 'message that had not left is', 'messages that had not left are')} cancelled.`,
    people.length === 0 ? '' : ` ${namesOf(people, nameOf)} ${people.length === 1 ? 'hears' : 'hear'} of it by SMS.`,
  ].join('');
}

/** Formats a time as RFC 3339, to the minute. */
function shownTime(at: unknown): string {
  return `${textOf(at).slice(0, 16).replace('T', ' ')} UTC`;
}

/** Describes the time without data. Data that never arrived again cannot be judged. */
function noDataFor(data: Data): string {
  const minutes = Number(data['noDataMinutes'] ?? 0);
  const from = silentSeries(data);
  return minutes === 0 ? '' : `${from === '' ? '' : ` from ${from}`}, for ${plural(minutes, 'minute', 'minutes')} now`;
}

function seriesSilent(data: Data): string {
  const minutes = Number(data['noDataMinutes'] ?? 0);
  const until =
    minutes === 0 ? '' : `, or is resolved as "no data" after ${plural(minutes, 'minute', 'minutes')} without any`;
  return `Nothing more came from ${silentSeries(data)}, so the condition is false only for want of data: the incident stays open until data from there shows recovery${until}.`;
}

/** Returns the series that fell silent, the rest as a number; empty when none did. */
function silentSeries(data: Data): string {
  const names = listOf(data['silent']).map(textOf);
  const left = Number(data['silentCount'] ?? 0) - names.length;
  return joined(left > 0 ? [...names, `${left} more`] : names);
}

/** Describes how long the condition was false, for a rule whose settings ask for more or less than a whole window. */
function clearFor(data: Data): string {
  const minutes = Number(data['clearMinutes'] ?? 0);
  return minutes === 0 ? '' : `: its condition has been false for ${plural(minutes, 'minute', 'minutes')}`;
}

/** Describes the new status of the exception, by which somebody ended the incident. */
function newGroupStatus(data: Data): string {
  const status = textOf(data['groupStatus']);
  return status === '' ? '' : `, who set its exception to ${status}`;
}

function whatContinues(data: Data): string {
  if (data['status'] === 'acknowledged') return 'it is acknowledged as before';
  const resumed = Number(data['resumedMessages'] ?? 0);
  const sent = resumed === 0 ? '' : ` and ${plural(resumed, 'cancelled message is', 'cancelled messages are')} sent`;
  return `escalation goes on${sent}`;
}

/** Returns the name that a policy then had, or that of a person. */
function assignee(data: Data, nameOf: NameOf): string {
  const policy = textOf(data['policy']);
  return policy === '' ? nameOf(data['userId']) : `the policy "${policy}"`;
}

function afterReassignment(data: Data): string {
  const left = Number(data['stepsLeft'] ?? 0);
  if (textOf(data['policy']) !== '') return 'its steps begin now';
  return left === 0
    ? 'no other step follows'
    : `${plural(left, 'step follows', 'steps follow')} if nobody acknowledges`;
}

function newsOfReopening(data: Data, nameOf: NameOf): string {
  const people = listOf(data['told']);
  if (people.length === 0) return '';
  return ` ${namesOf(people, nameOf)} ${people.length === 1 ? 'hears' : 'hear'} by SMS that it is open again.`;
}

function namesOf(people: readonly unknown[], nameOf: NameOf): string {
  return people.length > NAMED_MAX ? `${people.length} people` : joined(people.map(nameOf));
}

function actor(data: Data, nameOf: NameOf): string {
  const by = data['by'] as IncidentActor | undefined;
  return by === undefined ? 'somebody' : actorText(by, nameOf);
}

function stepNumber(data: Data): number {
  return Number(data['stepIndex'] ?? 0) + 1;
}

/** Returns the declaration of a channel; null for one of a later version. */
function channelOf(name: unknown) {
  return typeof name === 'string' && isChannel(name) ? declarationOf(name) : null;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function recordOf(value: unknown): Data {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function recordsOf(value: unknown): readonly Data[] {
  return listOf(value).map(recordOf);
}

/** Joins texts as in "a, b and c". */
function joined(parts: readonly string[], last = 'and'): string {
  const [end = '', ...before] = parts.toReversed();
  return before.length === 0 ? end : `${before.toReversed().join(', ')} ${last} ${end}`;
}

function ordinal(count: number): string {
  return `${count}${count === 1 ? 'st' : count === 2 ? 'nd' : count === 3 ? 'rd' : 'th'}`;
}

function plural(count: number, singular: string, many: string): string {
  return `${count} ${count === 1 ? singular : many}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
