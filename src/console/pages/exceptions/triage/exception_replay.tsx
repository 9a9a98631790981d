import { Text } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { isApiError } from '#console/api/http.ts';
import { actionQuery } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { countText } from '#console/pages/exceptions/count_text.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { type Level, LEVELS } from '#modules/exceptions/decide/level.ts';
import type { StoredSettings } from '#modules/rules/decide/rule_settings.ts';

interface ExceptionReplayProps {
  readonly serviceId: string;
  readonly minSeverity: unknown;
  readonly settings: StoredSettings;
}

const OUTCOMES = { new: 'new', regression: 'came back' } as const;

const DAYS = 14;
const DEBOUNCE_MS = 400;
const SHOWN = 8;

/** Days that are replayed of a service with too many exceptions for more. */
const DAYS_MIN = 1;

interface Replayed {
  readonly serviceId: string;
  readonly minSeverity: Level;
  readonly settings: StoredSettings;
}

function useReplayOf(rule: Replayed, days: number, enabled: boolean) {
  const { orgId } = useOrganization().org;
  const { data, error } = useQuery({
    ...actionQuery(orgId, 'rules', 'replay_exception_rule', { ...rule, days }),
    enabled,
    placeholderData: keepPreviousData,
    retry: false,
  });
  const tooMuch = isApiError(error, 400) ? error.faults.find(({ path }) => path === 'days')?.message : undefined;
  return { data, tooMuch, days };
}

/** Card of the incidents that a rule on exceptions would have opened in the last days. */
export function ExceptionReplay({ serviceId, minSeverity, settings }: ExceptionReplayProps) {
  const level: Level = LEVELS.find((name) => name === minSeverity) ?? 'error';
  const [wanted] = useDebouncedValue({ serviceId, minSeverity: level, settings }, DEBOUNCE_MS);
  const isOnRate = [settings.eventsOver, settings.usersOver].some((limit) => limit != null);
  const all = useReplayOf(wanted, DAYS, true);
  const last = useReplayOf(wanted, DAYS_MIN, all.tooMuch !== undefined);
  const { data, tooMuch, days } = all.tooMuch === undefined ? all : last;
  if (tooMuch !== undefined) return <Card title="What it would have done" about={`It cannot be shown: ${tooMuch}.`} />;
  if (data === undefined) return null;
  const { incidentCount, incidents, isCut } = data;
  return (
    <Card
      title={`It would have opened ${countText(incidentCount, 'incident')}`}
      about={`In the last ${days === 1 ? 'day: there are too many exceptions for more' : `${days} days`}, as far as events are kept. ${isOnRate ? 'Opened each time an exception came too often, until it no longer did. ' : ''}Storms and what is resolved by hand are not counted.`}
      rows={incidents.slice(0, SHOWN).map(({ groupId, title, outcome, severity, at, events = 0, users = null }) => (
        <Row
          key={`${groupId} ${at}`}
          title={
            <Link to="/exceptions/$groupId" params={{ groupId }}>
              <Name>{title}</Name>
            </Link>
          }
          sub={
            <>
              {outcome === 'rate'
                ? [countText(events, 'event'), ...(users === null ? [] : [countText(users, 'user')])].join(' and ')
                : OUTCOMES[outcome]}
              , {severity}, <Timestamp at={at} />
            </>
          }
        />
      ))}
    >
      {incidentCount > SHOWN && (
        <Text size="sm" c="dimmed">
          The newest {SHOWN} are shown.
        </Text>
      )}
      {isCut && (
        <Text size="sm" c="dimmed">
          This service has too many exceptions to judge them all: the older ones are left out.
        </Text>
      )}
    </Card>
  );
}
