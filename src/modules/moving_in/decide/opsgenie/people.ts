import { type Channel, type Moved, phoneInFile } from '#modules/moving_in/decide/moved.ts';
import type { OpsgenieAnswers } from '#modules/moving_in/decide/opsgenie/collect.ts';
import { idInPath, numberOf, objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

const ROLES: Record<string, 'admin' | 'editor' | 'responder' | 'viewer'> = {
  owner: 'admin',
  admin: 'admin',
  user: 'responder',
  stakeholder: 'viewer',
  observer: 'viewer',
};

/** Adds the users of Opsgenie, whose name of the account is their address, with contacts and rules. */
export function addOpsgeniePeople(moved: Moved, answers: OpsgenieAnswers): void {
  const users = new Map<string, RawObject>();
  for (const { value } of answers.user) {
    const id = userIdOf(value);
    if (id !== '') users.set(id, { ...users.get(id), ...value });
  }
  const byAddress = new Map([...users].map(([id, user]) => [addressOf(user), id]));
  const [idIn, addressIn] = [idInPath([...users.keys()]), idInPath([...byAddress.keys()])];
  const ownerOf = (path: string): string => idIn(path) ?? byAddress.get(addressIn(path) ?? '') ?? '';
  const contactsOf = Map.groupBy(answers.contact, ({ path }) => ownerOf(path));
  const rulesOf = Map.groupBy(answers.contactRule, ({ path }) => ownerOf(path));
  for (const [id, user] of users) {
    const contacts = [...objectsOf(user['userContacts']), ...(contactsOf.get(id) ?? []).map(({ value }) => value)];
    addUser(
      moved,
      id,
      user,
      uniqueContacts(contacts),
      (rulesOf.get(id) ?? []).map(({ value }) => value),
    );
  }
}

export function userIdOf(user: RawObject | null): string {
  return textOf(user, 'id') || textOf(user, 'accountId') || textOf(user, 'username');
}

function addressOf(user: RawObject): string {
  return textOf(user, 'username') || textOf(user, 'emailAddress');
}

function uniqueContacts(contacts: readonly RawObject[]): RawObject[] {
  return [
    ...new Map(
      contacts.map((contact) => [textOf(contact, 'id') || `${methodOf(contact)} ${textOf(contact, 'to')}`, contact]),
    ).values(),
  ];
}

function methodOf(contact: RawObject | null): string {
  return textOf(contact, 'method') || textOf(contact, 'contactMethod');
}

const CHANNELS: Record<string, Channel> = { email: 'email', sms: 'sms', voice: 'call', mobile: 'push' };

function addUser(
  moved: Moved,
  id: string,
  user: RawObject,
  contacts: readonly RawObject[],
  rules: readonly RawObject[],
): void {
  const address = addressOf(user);
  const name = textOf(user, 'fullName') || textOf(user, 'displayName') || address;
  const phones: string[] = [];
  const channels = new Set<Channel>();
  for (const contact of contacts) {
    const method = methodOf(contact);
    const isEnabled = (objectOf(contact['status'])?.['enabled'] ?? contact['enabled']) !== false;
    const channel = CHANNELS[method];
    if (isEnabled && channel !== undefined) channels.add(channel);
    const phone = phoneOf(textOf(contact, 'to'));
    if ((channel === 'sms' || channel === 'call') && phone !== null && !phones.includes(phone)) phones.push(phone);
  }
  const role = (textOf(objectOf(user['role']), 'name') || textOf(user, 'role')).toLowerCase();
  const zone = textOf(user, 'timeZone');
  moved.addPerson({
    id,
    name,
    email: address,
    role: ROLES[role],
    zone,
    phones,
    channels: channels.size > 0 ? channels : null,
  });
  moved.alias(address, id);
  if (user['blocked'] === true)
    moved.ledger
      .item('user', id)
      .judge(
        'compiled',
        'The account is blocked there; here it is invited.',
        'Remove the person, if nobody needs the account.',
      );
  for (const contact of contacts) judgeContact(moved, contact, name, address, phones);
  for (const rule of rules) judgeRule(moved, rule, id, name);
}

function phoneOf(to: string): string | null {
  const match = /^(\d{1,3})-(.+)$/.exec(to);
  return match === null ? phoneInFile(to, '') : phoneInFile(match[2] ?? '', match[1] ?? '');
}

function judgeContact(
  moved: Moved,
  contact: RawObject,
  name: string,
  address: string,
  phones: readonly string[],
): void {
  const [method, to] = [methodOf(contact), textOf(contact, 'to')];
  const id = textOf(contact, 'id') || `${address}/${method}/${to}`;
  const contactMethod = moved.ledger.see('contact_method', id, `${name}: ${method}`);
  switch (CHANNELS[method]) {
    case 'email':
      if (to.toLowerCase() === address.toLowerCase()) contactMethod.judge('exact');
      else
        contactMethod.refuse(
          `${to} is another address than that of the account, which mail goes to here.`,
          'Forward the mail, or change the address of the account.',
        );
      return;
    case 'sms':
    case 'call': {
      const phone = phoneOf(to);
      if (phone === null)
        contactMethod.refuse('Its number is no phone number with a country code.', 'Let the person enter the number.');
      else if (phones[0] === phone)
        contactMethod.judge('compiled', 'The number comes along unconfirmed.', 'Let the person confirm it.');
      else
        contactMethod.judge(
          'compiled',
          'It is kept as a further number; the first one is used in each team.',
          'Let the person choose and confirm the number.',
        );
      return;
    }
    case 'push':
      contactMethod.refuse('A phone registers itself for push.', 'Open the console on the phone, and turn push on.');
      return;
    case undefined:
      contactMethod.refuse(`Nothing here is like a contact of the kind "${method}".`, 'Choose another channel.');
  }
}

function judgeRule(moved: Moved, rule: RawObject, userId: string, name: string): void {
  const id = textOf(rule, 'id') || `${userId}/${textOf(rule, 'name')}`;
  const contactRule = moved.ledger.see('contact_rule', id, `${name}: ${textOf(rule, 'name')}`);
  const action = textOf(rule, 'actionType');
  if (action !== '' && action !== 'create-alert') {
    contactRule.refuse(
      `It tells of "${action}"; here people are told of incidents and of their shifts.`,
      'Nothing, if nobody misses it.',
    );
    return;
  }
  const delays = objectsOf(rule['steps']).filter(
    (step) => (numberOf(objectOf(step['sendAfter']), 'timeAmount') ?? 0) > 0,
  );
  const reason = 'Channels are switched on for the person; when a message leaves is decided by the step here.';
  if (delays.length === 0) contactRule.judge('compiled', reason);
  else
    contactRule.judge(
      'compiled',
      `${reason} Delays of ${delays.length} steps are not kept.`,
      'Add steps of the policy after that time.',
    );
}

/** People for whom a participant of a rotation or a recipient of a rule stands. */
interface ParticipantPeople {
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
