import { Skeleton, Switch, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';

import { type BillingMonth, invoke } from '#console/api/actions.ts';
import { billingQuery } from '#console/api/organization.ts';
import { sessionQuery } from '#console/api/session.ts';
import { showError } from '#console/components/notice.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { CAPABILITY_NAMES, euroText, PRICE_EUR } from '#console/components/text/capability.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { dateFormat, dateText } from '#console/components/text/time_text.ts';
import { IconReceiptOff } from '#console/icons.ts';
import { AdminsOnly } from '#console/pages/settings/admins_only.tsx';
import { useOrganization } from '#console/shell/organization.tsx';

export function Billing() {
  const { isAdmin } = useOrganization();
  return (
    <Page title="Billing" lead="For organizations that bill their teams for what they watch." isNarrow>
      {isAdmin ? <Prices /> : <AdminsOnly what="Billing" />}
    </Page>
  );
}

/** Switch of the prices, and what they come to while they are shown. */
function Prices() {
  const { org } = useOrganization();
  const queryClient = useQueryClient();
  const setting = useMutation({
    mutationFn: (shown: boolean) => invoke(org.orgId, 'set_shown_prices', { shown }),
    onError: (error) => showError('The prices are as they were', error),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey }),
  });
  return (
    <>
      <Card title="Prices">
        <Switch
          label="Show what capabilities cost"
          description={`This server charges nobody. It counts ${euroText(PRICE_EUR)} for each service, capability and month, so that you can bill your teams with it.`}
          checked={org.showsPrices}
          disabled={setting.isPending}
          onChange={({ currentTarget }) => setting.mutate(currentTarget.checked)}
        />
      </Card>
      {org.showsPrices && <Months />}
    </>
  );
}

function Months() {
  const { org } = useOrganization();
  const { data, error, refetch } = useQuery(billingQuery(org.orgId));
  if (error !== null && data === undefined) return <ErrorAlert error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton height={240} radius="lg" />;
  if (data.months.length === 0) {
    return (
      <EmptyState icon={<IconReceiptOff size={24} />} title="Nothing has been charged yet">
        A period of one month starts when a capability is enabled for a service. It is listed here.
      </EmptyState>
    );
  }
  return data.months.map((month) => <Month key={month.month} month={month} />);
}

function Month({ month: { month, total, lines, lineCount } }: { readonly month: BillingMonth }) {
  return (
    <Card
      title={monthName(month)}
      action={
        <Text fw={620} className="numbers">
          {euroText(total)}
        </Text>
      }
      rows={[
        ...periodsOf(lines).map((period) => (
          <PeriodRow key={period[0].serviceId + period[0].periodStart} lines={period} />
        )),
        ...(lineCount > lines.length
          ? [<Row key="more" title={`${lineCount - lines.length} more in the total that are not listed`} />]
          : []),
      ]}
    />
  );
}

type Line = BillingMonth['lines'][number];
type Period = readonly [Line, ...Line[]];

/** Groups the lines of one service and the same days, sorted by the name of the service. */
function periodsOf(lines: readonly Line[]): Period[] {
  const periods = new Map<string, [Line, ...Line[]]>();
  for (const line of lines) {
    const key = [line.serviceId, dateText(line.periodStart), dateText(line.periodEnd)].join(' ');
    const period = periods.get(key);
    if (period === undefined) periods.set(key, [line]);
    else period.push(line);
  }
  return [...periods.values()].toSorted(([a], [b]) => a.serviceName.localeCompare(b.serviceName));
}

function PeriodRow({ lines }: { readonly lines: Period }) {
  const [{ serviceName, periodStart, periodEnd }] = lines;
  const capabilities = lines.map(({ capability }) => CAPABILITY_NAMES[capability]).toSorted();
  return (
    <Row
      title={<Name>{serviceName}</Name>}
      sub={
        <>
          {capabilities.join(', ')}, <Timestamp at={periodStart} format="date" /> to{' '}
          <Timestamp at={periodEnd} format="date" />
        </>
      }
    >
      <span className="numbers">{euroText(lines.reduce((sum, { amount }) => sum + amount, 0))}</span>
    </Row>
  );
}

const MONTH = dateFormat({ month: 'long', year: 'numeric', timeZone: 'UTC' });

function monthName(month: string): string {
  return MONTH.format(new Date(`${month}-01T00:00:00Z`));
}
