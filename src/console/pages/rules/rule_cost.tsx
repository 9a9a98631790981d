import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';

import { actionQuery, type InputOf, type ResultOf } from '#console/api/actions.ts';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/pages/rules/rule_replay.module.css';
import { useOrganization } from '#console/shell/organization.tsx';
import type { ReplayedIncident } from '#modules/rules/decide/replay.ts';

/** Pause in dragging, in milliseconds, after which the server is asked. */
const SETTLED_MS = 400;

interface RuleCostProps {
  readonly input: InputOf<'replay_rule'>;
  readonly isSettled: boolean;
  readonly hasIncidents: boolean;
}

export interface Replay {
  readonly incidents: readonly ReplayedIncident[];
  /** Number of all incidents; null until they are counted. */
  readonly count: number | null;
  /** Values of the label with the number of their incidents, the most first; null: values without one of their own. */
  readonly values: readonly (readonly [value: string | null, incidents: number])[];
}

/** Asks the server for a replay once its input rests. */
export function useReplay(
  input: InputOf<'replay_rule'>,
  { isWanted, isSettled }: { readonly isWanted: boolean; readonly isSettled: boolean },
): Replay {
  const { data } = useReplayQuery(input, isWanted && isSettled);
  return useMemo(() => {
    if (data === undefined || !isWanted) return { incidents: [], count: null, values: [] };
    const incidents = data.incidents.map(({ openedAt, closedAt }) => {
      return { openedAt: Date.parse(openedAt), closedAt: closedAt === null ? null : Date.parse(closedAt) };
    });
    const values = [...Map.groupBy(data.incidents, ({ labelValue = null }) => labelValue)]
      .map(([value, ofValue]) => [value, ofValue.length] as const)
      .toSorted(([, most], [, many]) => many - most);
    return { incidents, count: data.incidentCount, values };
  }, [data, isWanted]);
}

/** Returns whose incidents they are: `3 of host web-1, 1 of web-2`. */
export function ofValuesText(label: string, values: Replay['values']): string {
  const named = values
    .slice(0, VALUES_SHOWN)
    .map(([value, incidents], place) => {
      const name = value === null ? 'further values' : value === '' ? `no ${label}` : value;
      return `${incidents.toLocaleString()} of ${place === 0 && value ? `${label} ` : ''}${name}`;
    })
    .join(', ');
  return values.length > VALUES_SHOWN ? `${named} and ${values.length - VALUES_SHOWN} more values` : named;
}

function useReplayQuery(input: InputOf<'replay_rule'>, isWanted: boolean) {
  const { orgId } = useOrganization().org;
  const [settled] = useDebouncedValue(JSON.stringify(input), SETTLED_MS);
  const isAsked = isWanted && settled === JSON.stringify(input);
  const replay = useQuery({
    ...actionQuery(orgId, 'rules', 'replay_rule', input),
    enabled: isAsked,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  return { ...replay, isAsked };
}

/** Cost to people of the incidents that would have opened. */
export function RuleCost({ input, isSettled, hasIncidents }: RuleCostProps) {
  const isWanted = isSettled && hasIncidents && input.escalationPolicyId !== null;
  const { data, isPlaceholderData, error, isAsked } = useReplayQuery(input, isWanted);
  if (!hasIncidents) return null;
  if (input.escalationPolicyId === null) return <p>It pages nobody: no escalation policy is chosen.</p>;
  if (error !== null && data === undefined) return <p>It could not be computed whom they would have paged.</p>;
  if (data?.cost == null) return <p className="dimmed">Counting pages …</p>;
  const { pages, nights, people, peopleCount } = data.cost;
  const kept = <HeldBackPages replay={data} />;
  const atLeast = data.incidentCount > data.incidents.length ? 'at least ' : '';
  if (pages === 0)
    return (
      <div aria-busy={isPlaceholderData}>
        <p>{whyNobody(data)}</p>
        {kept}
      </div>
    );
  return (
    <div aria-busy={isPlaceholderData || !isAsked}>
      <p>
        {atLeast}
        <b className="numbers">{count(pages, 'page')}</b> to {count(peopleCount, 'person', 'people')}
        {nights === 0 ? ', none at night' : `, and ${atLeast}${count(nights, 'disturbed night')}`}, if nobody answered.
      </p>
      {kept}
      <ul className={`${classes.people} plain-list dimmed`}>
        {people.slice(0, PEOPLE_SHOWN).map(({ userId, name, pages: personPages, nights: woken, timeZone }) => (
          <li key={userId} title={`Nights are from 23:00 to 07:00 in ${timeZone}.`}>
            <Name>{name}</Name>
            <span className="numbers">
              {count(personPages, 'page')}
              {woken > 0 && `, ${count(woken, 'night')}`}
            </span>
          </li>
        ))}
        {peopleCount > PEOPLE_SHOWN && <li>and {peopleCount - PEOPLE_SHOWN} more</li>}
      </ul>
    </div>
  );
}

/** Text on pages held back by maintenance and other incidents, and on those after a forgotten acknowledgement. */
function HeldBackPages({ replay }: { readonly replay: ResultOf<'replay_rule'> }) {
  const { quietCount, joinedCount, forgotten, incidents } = replay;
  const never = incidents.filter(({ paging, pagedAt }) => paging !== 'at_once' && pagedAt === null).length;
  const parts = [
    ...(quietCount > 0 ? [`${quietCount.toLocaleString()} opened during a maintenance`] : []),
    ...(joinedCount > 0 ? [`${joinedCount.toLocaleString()} joined another incident of the service`] : []),
  ];
  return (
    <>
      {parts.length > 0 && (
        <p>
          {parts.join(', ')}; {never === 0 ? 'each paged later' : `${never.toLocaleString()} of them paged nobody`}.
        </p>
      )}
      {forgotten !== null && (
        <p>
          Acknowledged after {forgotten.acknowledgedAfterMinutes} min each time and forgotten:{' '}
          {count(forgotten.pages, 'page')}
          {forgotten.nights > 0 && `, ${count(forgotten.nights, 'disturbed night')}`}.
        </p>
      )}
    </>
  );
}

function whyNobody({ incidents }: ResultOf<'replay_rule'>): string {
  return incidents.every(({ pagedAt }) => pagedAt === null)
    ? 'They would have paged nobody.'
    : 'They would have reached nobody: nobody in the policy was on call with a working channel.';
}

const PEOPLE_SHOWN = 5;
const VALUES_SHOWN = 4;

function count(amount: number, singular: string, many = `${singular}s`): string {
  return `${amount.toLocaleString()} ${amount === 1 ? singular : many}`;
}
