import { Text } from '@mantine/core';

import type { Me } from '#console/api/organization.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status } from '#console/components/status.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { useNow } from '#console/components/text/use_now.ts';
import { OwnCalendarButton } from '#console/pages/me/own_calendar_button.tsx';

/** Card of the person's shifts, and of the calendar with them. */
export function ShiftsCard({ shifts }: { readonly shifts: Me['shifts'] }) {
  const now = new Date(useNow(5)).toISOString();
  if (shifts.length === 0) {
    return (
      <Card title="Your shifts" action={<OwnCalendarButton />}>
        <Text size="sm" c="dimmed">
          You have no shift in the next 90 days.
        </Text>
      </Card>
    );
  }
  return (
    <Card
      title="Your shifts"
      about="Those of the next 90 days."
      action={<OwnCalendarButton />}
      rows={shifts.map(({ scheduleId, scheduleName, teamName, since, until, source }) => (
        <Row
          key={`${scheduleId} ${since}`}
          title={
            <>
              <Timestamp at={since} format="date_time" />
              {until === null ? (
                ', until further notice'
              ) : (
                <>
                  {' to '}
                  <Timestamp at={until} format="date_time" />
                </>
              )}
            </>
          }
          sub={
            <>
              <Name>{teamName}</Name>, <Name>{scheduleName}</Name>
              {source === 'override' && ' (override)'}
            </>
          }
        >
          {since <= now && (until === null || now < until) ? (
            <Status tone="blue">on call now</Status>
          ) : (
            <span className="dimmed">
              <Timestamp at={since} />
            </span>
          )}
        </Row>
      ))}
    />
  );
}
