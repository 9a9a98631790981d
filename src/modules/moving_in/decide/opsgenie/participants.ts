import type { Moved } from '#modules/moving_in/decide/moved.ts';
import type { OpsgenieAnswers } from '#modules/moving_in/decide/opsgenie/collect.ts';
import { userIdOf } from '#modules/moving_in/decide/opsgenie/people.ts';
import { objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

/** People for whom a participant of a rotation or a recipient of a rule stands. */
export interface ParticipantPeople {
  readonly people: readonly string[];
  /** Sentence where the participant was a group whose people are those of today; else empty. */
  readonly frozen: string;
  /** Sentence where it names nobody who was read; else empty. */
  readonly missing: string;
}

export interface ParticipantReader {
  peopleOf(participant: RawObject): ParticipantPeople;
}

/** Reads participants, which may be people, teams, escalations or nobody, and may repeat. */
export function participantReader(moved: Moved, answers: OpsgenieAnswers): ParticipantReader {
  const teams = new Map(
    answers.team.map(({ value }) => [
      textOf(value, 'name') || textOf(value, 'teamName'),
      textOf(value, 'id') || textOf(value, 'teamId'),
    ]),
  );
  const escalations = new Map(
    answers.escalation.flatMap(({ value }) => [
      [textOf(value, 'id'), value] as const,
      [textOf(value, 'name'), value] as const,
    ]),
  );

  function peopleOf(participant: RawObject, depth = 0): ParticipantPeople {
    const [type, id] = [textOf(participant, 'type').toLowerCase(), textOf(participant, 'id')];
    const name = textOf(participant, 'name') || textOf(participant, 'username') || id;
    if (type === 'none' || type === 'noone' || (type === '' && name === ''))
      return { people: [], frozen: '', missing: '' };
    if (type === 'team') {
      const people = moved.membersOf(moved.teamKey(id) === null ? (teams.get(name) ?? '') : id);
      return people.length > 0
        ? { people, frozen: `The team ${name} stands for its members as of today.`, missing: '' }
        : { people: [], frozen: '', missing: `The team ${name} has no members that were read; the turn is nobody's.` };
    }
    if (type === 'escalation') return peopleOfEscalation(escalations.get(id) ?? escalations.get(name), name, depth);
    const key =
      moved.person(userIdOf(participant)) ?? moved.person(textOf(participant, 'username')) ?? moved.person(name);
    if (key !== null) return { people: [key], frozen: '', missing: '' };
    const missing = `${name} is not among the people that were read; the turn is nobody's.`;
    return { people: [moved.personOrUnknown(id === '' ? name : id, name)], frozen: '', missing };
  }

  function peopleOfEscalation(escalation: RawObject | undefined, name: string, depth: number): ParticipantPeople {
    const [first] = objectsOf(escalation?.['rules']);
    const recipient = objectOf(first?.['recipient']);
    if (recipient === null || depth > 5 || textOf(recipient, 'type') === 'schedule') {
      return {
        people: [],
        frozen: '',
        missing: `The escalation ${name} names nobody at once who can stand in a turn; the turn is nobody's.`,
      };
    }
    const { people, missing } = peopleOf(recipient, depth + 1);
    return {
      people,
      missing,
      frozen: missing === '' ? `The escalation ${name} stands for those whom its first rule reaches as of today.` : '',
    };
  }

  return { peopleOf: (participant) => peopleOf(participant) };
}
