import { Moved, nameInFile, type ReadingTime } from '#modules/moving_in/decide/moved.ts';
import { durationMinutes, ruleOfExpression } from '#modules/moving_in/decide/other/prom_rule.ts';
import {
  numberOf,
  objectOf,
  objectsOf,
  type RawDocument,
  type RawObject,
  textOf,
} from '#modules/moving_in/decide/raw.ts';

const FOR_MINUTES_MAX = 1_440;

/** A rule that alerts, wherever it comes from. */
interface AlertingRule {
  readonly id: string;
  readonly name: string;
  readonly expr: string;
  readonly forMinutes: number;
  /** Minutes for which it goes on after its condition; 0: as a rule here does by itself. */
  readonly keepMinutes: number;
  readonly service: string;
  readonly isOn: boolean;
}

/** Turns rule files of Prometheus into rules; null if there are none. */
export function readPrometheus(documents: readonly RawDocument[], time: ReadingTime): Moved | null {
  const files = documents
    .map(({ path, value }) => ({ path, groups: groupsOf(value) }))
    .filter(({ groups }) => groups.length > 0);
  if (files.length === 0) return null;
  const moved = new Moved({ prefix: 'prometheus', title: 'Prometheus' }, time);
  for (const { path, groups } of files) {
    for (const group of groups) {
      for (const [index, rule] of objectsOf(group['rules']).entries())
        addRule(moved, `${path}/${textOf(group, 'name')}/${index}`, rule);
    }
  }
  for (const { path } of documents.filter((document) => !files.some((file) => file.path === document.path))) {
    moved.ledger
      .see('file', path, path)
      .refuse('It has no groups of rules.', 'Nothing, if it belongs to something else.');
  }
  return moved;
}

/** Returns the groups of a rule file, of the operator's resource, or of the answer to `/api/v1/rules`. */
function groupsOf(value: unknown): RawObject[] {
  const body = objectOf(value);
  return [body, objectOf(body?.['spec']), objectOf(body?.['data'])].flatMap((holder) => objectsOf(holder?.['groups']));
}

function addRule(moved: Moved, path: string, rule: RawObject): void {
  const record = textOf(rule, 'record');
  if (record !== '' || textOf(rule, 'type') === 'recording') {
    const name = record || textOf(rule, 'name');
    moved.ledger
      .see('recording_rule', freeId(moved, 'recording_rule', `${path}/${name}`), name)
      .refuse('Prometheus goes on recording it.', 'Send the series by remote_write, if a rule here needs it.');
    return;
  }
  const name = textOf(rule, 'alert') || textOf(rule, 'name');
  const labels = objectOf(rule['labels']);
  const expr = textOf(rule, 'expr') || textOf(rule, 'query');
  const pause = textOf(rule, 'for');
  const forMinutes = pause === '' ? (numberOf(rule, 'duration') ?? 0) / 60 : durationMinutes(pause);
  addAlertingRule(moved, 'rule', {
    id: `${path}/${name}`,
    name,
    expr,
    forMinutes,
    keepMinutes: durationMinutes(textOf(rule, 'keep_firing_for')) || (numberOf(rule, 'keepFiringFor') ?? 0) / 60,
    service: textOf(labels, 'service'),
    isOn: true,
  });
}

/** Adds a rule on a metric to the file, or refuses it with the reason. */
export function addAlertingRule(
  moved: Moved,
  kind: string,
  { id: ruleId, name, expr, forMinutes, keepMinutes, service, isOn }: AlertingRule,
): void {
  const id = freeId(moved, kind, ruleId);
  const item = moved.ledger.see(kind, id, name);
  const read = ruleOfExpression(expr);
  if ('because' in read) {
    item.refuse(
      `No rule says "${expr.slice(0, 500)}": ${read.because}.`,
      'Record it with a recording rule, and make a rule on what is recorded; or let Prometheus send the alert.',
    );
    return;
  }
  const { losses: lost, ...config } = read;
  const isLong = Math.max(forMinutes, keepMinutes) > FOR_MINUTES_MAX;
  const isOdd = [forMinutes, keepMinutes].some((minutes) => !Number.isInteger(minutes));
  const losses = [
    ...lost,
    ...(isLong ? [`It waits ${FOR_MINUTES_MAX} minutes here, the most there is.`] : []),
    ...(isOdd ? ['It waits whole minutes here.'] : []),
  ];
  const inFile = (minutes: number): number => Math.min(Math.ceil(minutes), FOR_MINUTES_MAX);
  const key = serviceFor(moved, service);
  moved.rules.push({
    key: moved.key(id),
    service: key,
    name: nameInFile(name, id),
    kind: 'metric_threshold',
    config,
    enabled: isOn,
    ...(forMinutes + keepMinutes > 0 && {
      settings: {
        ...(forMinutes > 0 && { forMinutes: inFile(forMinutes) }),
        ...(keepMinutes > 0 && { recoveryMinutes: inFile(keepMinutes) }),
      },
    }),
  });
  item.judge(
    losses.length > 0 ? 'compiled' : 'exact',
    losses.join(' '),
    losses.length > 0 ? 'Compare both for a while.' : '',
  );
}

/** Returns the id, with a number behind it where another of its kind has it: groups of several files share names. */
function freeId(moved: Moved, kind: string, id: string): string {
  for (let number = 1; ; number += 1) {
    const numbered = number === 1 ? id : `${id}/${number}`;
    if (moved.ledger.verdictOf(kind, numbered) === null) return numbered;
  }
}

/** Returns the key of the service that a label names, or of the one for all rules without it. */
function serviceFor(moved: Moved, label: string): string {
  const id = label === '' ? 'all' : `service-${label}`;
  if (!moved.services.has(id)) {
    const name = label === '' ? moved.tool.title : label;
    moved.services.set(id, { key: moved.key(id), name: nameInFile(name, id), capabilities: ['metrics', 'oncall'] });
    moved.ledger
      .see('service', id, name)
      .judge(
        'compiled',
        'It is made for the rules, which belong to a service here.',
        'Send the series with its ingestion key, and give the rules a policy.',
      );
  }
  return moved.key(id);
}
