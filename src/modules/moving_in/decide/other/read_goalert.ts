import { addPolicies, type ReadTarget } from '#modules/moving_in/decide/add_policies.ts';
import { type Channel, Moved, nameInFile, phoneInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import {
  addGoAlertSchedule,
  type GoAlertRotation,
  readRotation,
} from '#modules/moving_in/decide/other/goalert_schedules.ts';
import {
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';

const LISTS = ['users', 'rotations', 'schedules', 'escalationPolicies', 'services'];
const CHANNELS: Record<string, Channel> = { SMS: 'sms', VOICE: 'call', EMAIL: 'email' };

/** Turns answers of GoAlert's GraphQL API into a file; null if none of the documents is one. */
export function readGoAlert(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const bodies = documents.flatMap(({ value }): RawObject[] => {
    const body = objectOf(objectOf(value)?.['data']) ?? objectOf(value);
    return body === null ? [] : [body];
  });
  const all = (list: string): RawObject[] =>
    bodies.flatMap((body) => objectsOf(objectOf(body[list])?.['nodes'] ?? body[list]));
  if (LISTS.every((list) => all(list).length === 0)) return null;
  const moved = new Moved({ prefix: 'goalert', title: 'GoAlert' }, time);
  for (const user of all('users')) addUser(moved, user);
  const rotations = new Map(
    all('rotations').flatMap((value) => {
      const rotation = readRotation(moved, value);
      return rotation === null ? [] : [[textOf(value, 'id'), rotation] as const];
    }),
  );
  const overrides = Map.groupBy(all('userOverrides'), ({ target }) => textOf(objectOf(target), 'id'));
  for (const schedule of all('schedules')) {
    const id = textOf(schedule, 'id');
    addGoAlertSchedule(moved, schedule, rotations, overrides.get(id) ?? []);
    overrides.delete(id);
  }
  for (const override of [...overrides.values()].flat())
    moved.ledger
      .see(
        'override',
        textOf(override, 'id'),
        `${textOf(objectOf(override['target']), 'name')} from ${textOf(override, 'start')} to ${textOf(override, 'end')}`,
      )
      .refuse('Its schedule was not read.', 'Enter an override of the schedule.');
  const policies = all('escalationPolicies');
  const paged = policies.flatMap((policy) => objectsOf(policy['steps']).flatMap((step) => objectsOf(step['targets'])));
  addPagedRotations(moved, paged, rotations);
  addPolicies(
    moved,
    policies.map((policy) => {
      let [afterMinutes, delay] = [0, 0];
      const steps = objectsOf(policy['steps']).map((step) => {
        afterMinutes += delay;
        delay = numberOf(step, 'delayMinutes') ?? 0;
        const targets = objectsOf(step['targets']).map((target) => ({ target, read: targetOf(target) }));
        return {
          afterMinutes,
          targets: targets.flatMap(({ read }) => read ?? []),
          losses: targets.flatMap(({ target, read }) =>
            read === null ? [`A target of the type "${textOf(target, 'type')}" has no like here.`] : [],
          ),
        };
      });
      const times = numberOf(policy, 'repeat') ?? 0;
      return {
        id: textOf(policy, 'id'),
        name: textOf(policy, 'name'),
        teamIds: [],
        steps,
        repeat: times > 0 ? { times, pauseMinutes: delay } : null,
      };
    }),
  );
  for (const service of all('services')) {
    const id = textOf(service, 'id');
    const policy = moved.policies.get(
      textOf(objectOf(service['escalationPolicy']), 'id') || textOf(service, 'escalationPolicyID'),
    );
    moved.services.set(id, {
      key: moved.key(id),
      name: nameInFile(textOf(service, 'name'), id),
      capabilities: ['oncall'],
      ...(policy !== undefined && { policy: policy.key }),
    });
    moved.ledger
      .see('service', id, textOf(service, 'name'))
      .judge(
        policy === undefined ? 'compiled' : 'exact',
        policy === undefined ? 'Its policy was not read or is refused.' : '',
        policy === undefined ? 'Give it a policy.' : '',
      );
  }
  return moved;
}

function addUser(moved: Moved, user: RawObject): void {
  const [id, name] = [textOf(user, 'id'), textOf(user, 'name')];
  const methods = objectsOf(user['contactMethods']);
  const phones = methods.flatMap((method) => phoneInFile(textOf(method, 'value'), '') ?? []);
  const email =
    textOf(user, 'email') || textOf(methods.find((method) => textOf(method, 'type') === 'EMAIL') ?? null, 'value');
  const channels = new Set(methods.flatMap((method) => CHANNELS[textOf(method, 'type')] ?? []));
  moved.addPerson({
    id,
    name,
    email,
    role: textOf(user, 'role') === 'admin' ? 'admin' : 'responder',
    zone: '',
    phones,
    channels: channels.size > 0 ? channels : null,
  });
  for (const method of methods) {
    const type = textOf(method, 'type');
    const isPhone = CHANNELS[type] === 'sms' || CHANNELS[type] === 'call';
    const reason = isPhone
      ? 'The number comes along unconfirmed.'
      : CHANNELS[type] === 'email'
        ? 'Mail goes to the address of the account.'
        : `Nothing here is like "${type}".`;
    moved.ledger
      .see('contact_method', textOf(method, 'id'), `${name}: ${textOf(method, 'name') || type}`)
      .judge(
        CHANNELS[type] === undefined ? 'refused' : 'compiled',
        reason,
        isPhone ? 'Let the person confirm it.' : '',
      );
  }
}

/** Makes a schedule of each rotation that a step pages by itself. */
function addPagedRotations(
  moved: Moved,
  targets: readonly RawObject[],
  rotations: ReadonlyMap<string, GoAlertRotation>,
): void {
  const paged = targets.filter(
    (target) => textOf(target, 'type') === 'rotation' && rotations.has(textOf(target, 'id')),
  );
  for (const [id, target] of new Map(paged.map((rotation) => [textOf(rotation, 'id'), rotation]))) {
    const name = textOf(target, 'name') || id;
    const timeZone = rotations.get(id)?.zone ?? '';
    const targetsOfIt = [{ target: { id, name, type: 'rotation' }, rules: [] }];
    addGoAlertSchedule(moved, { id, name, timeZone, targets: targetsOfIt, temporarySchedules: [] }, rotations, []);
    moved.ledger.item('schedule', id).judge('compiled', 'It is made for a rotation, which a step pages by itself.');
  }
}

/** Returns the target of a step; null for a channel of another program. */
function targetOf(target: RawObject): ReadTarget | null {
  const [id, name] = [textOf(target, 'id'), textOf(target, 'name')];
  switch (textOf(target, 'type')) {
    case 'user':
      return { kind: 'user', id, name };
    case 'schedule':
    case 'rotation':
      return { kind: 'schedule', id, name };
    default:
      return null;
  }
}
