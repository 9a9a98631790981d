import { type Channel, type Moved, phoneInFile } from '#modules/moving_in/decide/moved.ts';
import type { PagerDutyAnswers } from '#modules/moving_in/decide/pagerduty/collect.ts';
import { idInPath, numberOf, objectOf, objectsOf, type RawObject, textOf } from '#modules/moving_in/decide/raw.ts';

const ROLES: Record<string, 'admin' | 'editor' | 'responder' | 'viewer'> = {
  owner: 'admin',
  admin: 'admin',
  user: 'editor',
  limited_user: 'responder',
  observer: 'viewer',
  restricted_access: 'viewer',
  read_only_user: 'viewer',
  read_only_limited_user: 'viewer',
};

/** Adds the users of PagerDuty with their contact methods and contact rules. */
export function addPagerDutyPeople(moved: Moved, answers: PagerDutyAnswers): void {
  const users = new Map<string, RawObject>();
  for (const user of [...answers.users, ...usersWithin(answers)]) {
    const id = textOf(user, 'id');
    const before = users.get(id);
    if (id === '' || textOf(user, 'type').endsWith('_reference')) continue;
    users.set(id, { ...user, ...before, ...withContacts(before), ...withContacts(user) });
  }
  const methodsOf = new Map<string, RawObject[]>();
  const rulesOf = new Map<string, RawObject[]>();
  const userIn = idInPath([...users.keys()]);
  for (const { path, values } of answers.contactMethods) collectByUser(methodsOf, userIn(path), values);
  for (const { path, values } of answers.contactRules) collectByUser(rulesOf, userIn(path), values);
  for (const [id, user] of users) {
    const methods = uniqueById([...(methodsOf.get(id) ?? []), ...objectsOf(user['contact_methods'])]);
    const rules = uniqueById([...(rulesOf.get(id) ?? []), ...objectsOf(user['notification_rules'])]);
    addUser(moved, id, user, methods, rules);
  }
}

/** Returns the users that policies carry in full. */
function usersWithin({ policies }: PagerDutyAnswers): RawObject[] {
  return policies
    .flatMap((policy) => objectsOf(policy['escalation_rules']))
    .flatMap((rule) => objectsOf(rule['targets']))
    .filter((target) => textOf(target, 'type') === 'user' && textOf(target, 'email') !== '');
}

function withContacts(user: RawObject | undefined): RawObject {
  const lists = ['contact_methods', 'notification_rules'].flatMap((name) => {
    const list = objectsOf(user?.[name]);
    return list.some((item) => !textOf(item, 'type').endsWith('_reference')) ? [[name, list] as const] : [];
  });
  return Object.fromEntries(lists);
}

function collectByUser(lists: Map<string, RawObject[]>, userInPath: string | null, values: readonly RawObject[]): void {
  for (const value of values) {
    const id = /users\/([A-Za-z0-9]+)\//.exec(textOf(value, 'self'))?.[1] ?? userInPath;
    if (id === null) continue;
    const list = lists.get(id) ?? [];
    list.push(value);
    lists.set(id, list);
  }
}

function uniqueById(values: readonly RawObject[]): RawObject[] {
  const byId = new Map<string, RawObject>();
  for (const value of values) {
    const id = textOf(value, 'id');
    const before = byId.get(id);
    if (before === undefined || textOf(before, 'type').endsWith('_reference')) byId.set(id, value);
  }
  return [...byId.values()];
}

function addUser(
  moved: Moved,
  id: string,
  user: RawObject,
  methods: readonly RawObject[],
  rules: readonly RawObject[],
): void {
  const email = textOf(user, 'email');
  const phones: string[] = [];
  const channelOf = new Map<string, Channel>();
  const methodVerdicts: (() => void)[] = [];
  for (const method of methods) {
    const [methodId, type] = [textOf(method, 'id'), textOf(method, 'type').replace(/_reference$/, '')];
    const label = `${textOf(user, 'name')}: ${textOf(method, 'label') || textOf(method, 'summary') || type}`;
    const channel = channelOfMethod(type);
    if (channel !== null) channelOf.set(methodId, channel);
    moved.ledger.see('contact_method', methodId, label);
    methodVerdicts.push(() => judgeMethod(moved, methodId, type, method, email, phones));
    if (channel === 'sms' || channel === 'call') {
      const phone = phoneInFile(textOf(method, 'address'), textOf(method, 'country_code'));
      if (phone !== null && !phones.includes(phone)) phones.push(phone);
    }
  }
  const channels = new Set<Channel>();
  for (const rule of rules) {
    const method = objectOf(rule['contact_method']);
    const named = textOf(method, 'id') || (/channel ([A-Za-z0-9]+)/.exec(textOf(rule, 'summary'))?.[1] ?? '');
    const channel = channelOf.get(named) ?? channelOfMethod(textOf(method, 'type').replace(/_reference$/, ''));
    if (channel !== null) channels.add(channel);
  }
  moved.addPerson({
    id,
    name: textOf(user, 'name') || textOf(user, 'summary'),
    email,
    role: ROLES[textOf(user, 'role')],
    zone: textOf(user, 'time_zone'),
    phones,
    channels: channels.size > 0 ? channels : null,
  });
  for (const judge of methodVerdicts) judge();
  for (const rule of rules) judgeRule(moved, rule, textOf(user, 'name'));
}

function channelOfMethod(type: string): Channel | null {
  if (type.startsWith('email')) return 'email';
  if (type.startsWith('sms')) return 'sms';
  if (type.startsWith('phone')) return 'call';
  return type.startsWith('push') ? 'push' : null;
}

function judgeMethod(
  moved: Moved,
  id: string,
  type: string,
  method: RawObject,
  email: string,
  phones: readonly string[],
): void {
  const item = moved.ledger.item('contact_method', id);
  const address = textOf(method, 'address');
  switch (channelOfMethod(type)) {
    case 'email':
      if (address === '' || address.toLowerCase() === email.toLowerCase()) item.judge('exact');
      else
        item.refuse(
          `${address} is another address than that of the account, which mail goes to here.`,
          'Forward the mail, or change the address of the account.',
        );
      return;
    case 'push':
      item.refuse('A phone registers itself for push.', 'Open the console on the phone, and turn push on.');
      return;
    case 'sms':
    case 'call': {
      const phone = phoneInFile(address, textOf(method, 'country_code'));
      if (address === '') {
        item.refuse(
          'The answer names it without its number.',
          'Read users with include[]=contact_methods, or let the person enter the number.',
        );
      } else if (phone === null) {
        item.refuse('Its number is no phone number with a country code.', 'Let the person enter the number.');
      } else if (phones[0] === phone)
        item.judge('compiled', 'The number comes along unconfirmed.', 'Let the person confirm it.');
      else
        item.judge(
          'compiled',
          'It is kept as a further number; the first one is used in each team.',
          'Let the person choose and confirm the number.',
        );
      return;
    }
    case null:
      item.refuse(`Nothing here is like a contact method of the type "${type}".`, 'Choose another channel.');
  }
}

function judgeRule(moved: Moved, rule: RawObject, name: string): void {
  const id = textOf(rule, 'id');
  const summary = textOf(rule, 'summary');
  const contactRule = moved.ledger.see('contact_rule', id, `${name}: ${summary || textOf(rule, 'type')}`);
  const delay = numberOf(rule, 'start_delay_in_minutes') ?? Number(/^(\d+) minute/.exec(summary)?.[1] ?? 0);
  const reason = 'Its channel is switched on for the person; when a message leaves is decided by the step here.';
  if (delay === 0) contactRule.judge('compiled', reason);
  else
    contactRule.judge(
      'compiled',
      `${reason} Its delay of ${delay} minutes is not kept.`,
      'Add a step of the policy after that time, with that channel.',
    );
}
