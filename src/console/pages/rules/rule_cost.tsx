import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';

import type { InputOf, ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Name } from '#console/components/text/name.tsx';
import classes from '#console/pages/rules/rule_replay.module.css';
import { useOrganization } from '#console/shell/organization.tsx';

/** Pause in dragging, in milliseconds, after which the server is asked. */
const SETTLED_MS = 400;

interface RuleCostProps {
  readonly input: InputOf<'replay_rule'>;
  readonly isSettled: boolean;
  readonly hasIncidents: boolean;
}

/** Cost to people of the incidents that would have opened. */
export function RuleCost({ input, isSettled, hasIncidents }: RuleCostProps) {
  const { orgId } = useOrganization().org;
  const [settled] = useDebouncedValue(JSON.stringify(input), SETTLED_MS);
  const isAsked = isSettled && settled === JSON.stringify(input) && hasIncidents && input.escalationPolicyId !== null;
  const { data, isPlaceholderData, error } = useQuery({
    ...actionQuery(orgId, 'rules', 'replay_rule', input),
    enabled: isAsked,
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
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
      <ul className={classes.people}>
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

function count(amount: number, singular: string, many = `${singular}s`): string {
  return `${amount.toLocaleString()} ${amount === 1 ? singular : many}`;
}
