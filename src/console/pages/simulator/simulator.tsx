import { Button, Skeleton } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useRouter } from '@tanstack/react-router';

import { serverNow } from '#console/api/http.ts';
import { type Simulation, simulationQuery } from '#console/api/teams.ts';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { Card } from '#console/components/card.tsx';
import { Choice } from '#console/components/forms/choice.tsx';
import { EmptyState } from '#console/components/lists/empty_state.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Page } from '#console/components/page.tsx';
import { PolicyPicker } from '#console/components/forms/policy_picker.tsx';
import { ServicePicker } from '#console/components/forms/service_picker.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { TimeField } from '#console/components/forms/time_field.tsx';
import { IconCheck, IconLink, IconPlayerPlay } from '#console/icons.ts';
import { EscalationFlow } from '#console/pages/policies/escalation_flow.tsx';
import { Warnings } from '#console/pages/policies/warnings.tsx';
import classes from '#console/pages/simulator/simulator.module.css';
import {
  fromLocalInput,
  nextNight,
  shifted,
  type SimulatorSearch,
  toLocalInput,
} from '#console/pages/simulator/simulator_search.ts';
import { useOrganization } from '#console/shell/organization.tsx';

const route = getRouteApi('/inside/on-call/oncall/simulator');

/** Page of who would be paged at a time for a rule or an alert of a service, step by step. The address holds all three. */
export function Simulator() {
  const { org } = useOrganization();
  const { service, rule, alerts, policy, at } = route.useSearch();
  const isAsked = service !== undefined || policy !== undefined;
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...simulationQuery(org.orgId, {
      ...(service === undefined ? policy !== undefined && { policyId: policy } : { serviceId: service }),
      ...(rule !== undefined && { ruleId: rule }),
      ...(alerts !== undefined && { routeNumber: alerts }),
      ...(at !== undefined && { at }),
    }),
    enabled: isAsked,
  });
  const shown = isAsked ? data : undefined;
  return (
    <Page
      title="Simulator"
      lead="Who would be paged, in which order and how, if an incident opened and nobody answered."
      actions={shown !== undefined && <CopyLink simulation={shown} />}
    >
      <Question simulation={shown} />
      {!isAsked && (
        <EmptyState icon={<IconPlayerPlay size={24} />} title="Choose a service or a policy">
          Nothing is sent: the simulator only shows what would happen.
        </EmptyState>
      )}
      {isAsked && error !== null && (
        <ErrorAlert title="This cannot be simulated" error={error} onRetry={() => void refetch()} />
      )}
      {isAsked && shown === undefined && error === null && <Skeleton height={360} radius="lg" />}
      {shown !== undefined && error === null && (
        <div aria-busy={isPlaceholderData}>
          <Answer simulation={shown} />
        </div>
      )}
    </Page>
  );
}

function Question({ simulation }: { readonly simulation: Simulation | undefined }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (changed: SimulatorSearch): void => void navigate({ search: changed, replace: true });
  const { service, rule, alerts, policy, at } = search;
  const shownAt = at ?? new Date(serverNow()).toISOString();
  const setTime = (time: string | null): void => {
    const { at: _, ...others } = search;
    change(time === null ? others : { ...others, at: time });
  };
  const cause = rule ?? (alerts === undefined ? causeOf(simulation?.simulated ?? null) : `${ROUTE}${alerts}`);
  const causes = [
    ...(simulation?.rules ?? []).map(({ ruleId, name }) => ({ value: ruleId, label: isolateBidi(name) })),
    ...(simulation?.routes ?? [])
      .filter(({ pages }) => pages)
      .map(({ routeNumber }) => ({ value: `${ROUTE}${routeNumber}`, label: `Alerts by route ${routeNumber}` })),
  ];
  const choose = (chosen: string): void => {
    const { rule: _rule, alerts: _alerts, ...others } = search;
    const isRoute = chosen.startsWith(ROUTE);
    change({ ...others, ...(isRoute ? { alerts: Number(chosen.slice(ROUTE.length)) } : { rule: chosen }) });
  };
  return (
    <Card>
      <div className={classes.question}>
        <ServicePicker
          label="Service"
          value={service}
          placeholder="Choose a service"
          onChange={(chosen) =>
            change({ ...(chosen !== undefined && { service: chosen }), ...(at !== undefined && { at }) })
          }
        />
        <Choice
          label="Rule or alert"
          value={cause === '' ? null : cause}
          disabled={causes.length === 0}
          placeholder={service === undefined ? 'Choose a service first' : 'The service has no rules'}
          optionsMax={20}
          options={causes}
          onChange={(chosen) => chosen !== null && choose(chosen)}
          emptyText="No rule has this name"
        />
        <PolicyPicker
          label="Or a policy alone"
          placeholder="That of the rule or alert"
          clearLabel="That of the rule or alert"
          value={service === undefined ? (policy ?? null) : null}
          onChange={(chosen) => change({ ...(chosen !== null && { policy: chosen }), ...(at !== undefined && { at }) })}
          error={undefined}
        />
        <TimeField
          label="Time"
          value={toLocalInput(Date.parse(shownAt))}
          onChange={(value) => {
            const time = fromLocalInput(value);
            if (time !== null) setTime(time);
          }}
        />
      </div>
      <div className={`${classes.times} wraps spaced`} role="group" aria-label="Change the time">
        <Button size="xs" variant="default" onClick={() => setTime(null)} disabled={at === undefined}>
          Now
        </Button>
        <Button size="xs" variant="default" onClick={() => setTime(nextNight(serverNow()))}>
          Next night, 3:00
        </Button>
        <Button size="xs" variant="default" onClick={() => setTime(shifted(shownAt, { days: -1 }))}>
          − 1 day
        </Button>
        <Button size="xs" variant="default" onClick={() => setTime(shifted(shownAt, { hours: -1 }))}>
          − 1 h
        </Button>
        <Button size="xs" variant="default" onClick={() => setTime(shifted(shownAt, { hours: 1 }))}>
          + 1 h
        </Button>
        <Button size="xs" variant="default" onClick={() => setTime(shifted(shownAt, { days: 1 }))}>
          + 1 day
        </Button>
      </div>
    </Card>
  );
}

/** Begins the value of a route among those of rules. */
const ROUTE = 'route ';

function causeOf(simulated: Simulation['simulated']): string {
  return simulated?.ruleId ?? (simulated?.routeNumber == null ? '' : `${ROUTE}${simulated.routeNumber}`);
}

function Answer({ simulation: { at, service, simulated } }: { readonly simulation: Simulation }) {
  if (simulated === null) {
    return (
      <EmptyState icon={<IconPlayerPlay size={24} />} title="The service has no rules">
        Nothing opens an incident for it that pages, and no alert of another tool does.
      </EmptyState>
    );
  }
  const { policy, steps, name, condition, quiet, joined, stale } = simulated;
  return (
    <>
      <div className={classes.gap} />
      <Warnings messages={warningsOf(simulated)} />
      <Card
        title={
          <>
            {service !== null && (
              <>
                <Name>{service.name}</Name>:{' '}
              </>
            )}
            <Name>{name}</Name>, <Timestamp at={at} format="date_time" />
          </>
        }
        about={
          <>
            {condition}{' '}
            {policy !== null && (
              <>
                Pages by{' '}
                <Link to="/oncall/policies/$policyId" params={{ policyId: policy.policyId }}>
                  <Name>{policy.name}</Name>
                </Link>
                {' of '}
                <Name>{policy.teamName}</Name>.
              </>
            )}
          </>
        }
      >
        <Before quiet={quiet} joined={joined} />
        <p className={classes.sum}>{sumOf(steps)}</p>
        <EscalationFlow steps={steps} hasClock={joined === null} />
      </Card>
      {stale !== null && (
        <Card
          title="If it is acknowledged and forgotten"
          about={
            <>
              Somebody acknowledges it at <Timestamp at={stale.acknowledgedAt} format="date_time" />. Still open{' '}
              {durationText(stale.repageMinutes * 60_000)} later, at{' '}
              <Timestamp at={stale.pagesAgainAt} format="date_time" />, it pages again from the first step, and so after
              each further acknowledgement.
            </>
          }
        >
          <p className={classes.sum}>{sumOf(stale.steps)}</p>
          <EscalationFlow steps={stale.steps} hasClock />
        </Card>
      )}
      <Card title="What is assumed">
        <ul className={`${classes.assumed} dimmed small flush`}>
          <li>Nobody acknowledges or resolves the incident, and every message arrives.</li>
          <li>Schedules and overrides are those that are planned now for that time.</li>
          <li>Numbers, devices, channels and who belongs to the organization are as they are now.</li>
          {service === null ? (
            <li>No maintenance holds it back, no other incident takes it in, and its severity is error.</li>
          ) : (
            <>
              <li>
                Maintenance windows are those that are there now, and other incidents are open as they are known now.
              </li>
              <li>The service does not open so many incidents at once that they become one.</li>
            </>
          )}
        </ul>
      </Card>
    </>
  );
}

type Simulated = NonNullable<Simulation['simulated']>;

/** Text on what keeps the steps back. */
function Before({ quiet, joined }: Pick<Simulated, 'quiet' | 'joined'>) {
  if (quiet !== null) {
    return (
      <p className={classes.before}>
        In maintenance until <Timestamp at={quiet.until} format="date_time" /> (<Name>{quiet.maintenance}</Name>):
        nobody is paged before. If the incident is still open then, its steps begin:
      </p>
    );
  }
  if (joined !== null) {
    return (
      <p className={classes.before}>
        Joined to incident{' '}
        <Link to="/incidents/$incidentId" params={{ incidentId: joined.incidentId }}>
          #{joined.number} <Name>{joined.title}</Name>
        </Link>
        , which pages for both: nobody is paged again. If that one ends first, these steps begin then:
      </p>
    );
  }
  return null;
}

function warningsOf({ status, pages, policy, steps, routeNumber }: Simulated): string[] {
  const warnings: string[] = [];
  if (status === 'disabled') warnings.push('The rule is disabled: it opens no incident until somebody enables it.');
  if (status === 'capability_disabled' && routeNumber !== null) {
    warnings.push('The service lacks On-call: its alerts are refused.');
  } else if (status === 'capability_disabled') {
    warnings.push('The rule is not evaluated: the service lacks On-call, or the capability that the rule needs.');
  }
  if (!pages && routeNumber !== null) warnings.push('The route pages nobody.');
  else if (!pages) warnings.push('The rule has no escalation policy: its incidents page nobody.');
  else if (policy !== null && steps.length === 0) warnings.push('The policy has no steps: nobody is paged.');
  return warnings;
}

/** Returns the number of people and messages, and until when, as text. */
function sumOf(steps: Simulated['steps']): string {
  const people = new Set(
    steps.flatMap(({ people: stepPeople }) =>
      stepPeople
        .filter(({ channels }) => channels.some(({ outcome }) => outcome === 'notify'))
        .map(({ userId }) => userId),
    ),
  );
  if (people.size === 0) return 'Nobody is paged.';
  const messages = steps.reduce((sum, { messageCount }) => sum + messageCount, 0);
  const fired = steps.flatMap(({ firesAt, messageCount }) =>
    firesAt === null || messageCount === 0 ? [] : Date.parse(firesAt),
  );
  const [first, last] = [Math.min(...fired), Math.max(...fired)];
  const span = last > first ? ` within ${durationText(last - first)}` : ' at once';
  return `${people.size} ${people.size === 1 ? 'person gets' : 'people get'} ${messages} ${messages === 1 ? 'message' : 'messages'}${span}.`;
}

function causeIn(simulated: Simulation['simulated']): SimulatorSearch {
  if (simulated?.ruleId != null) return { rule: simulated.ruleId };
  return simulated?.routeNumber == null ? {} : { alerts: simulated.routeNumber };
}

/** Button for a link that shows the same to others, also later: it contains the simulated time. */
function CopyLink({ simulation: { at, service, simulated } }: { readonly simulation: Simulation }) {
  const clipboard = useClipboard({ timeout: 2_000 });
  const router = useRouter();
  const copy = (): void => {
    const policyId = simulated?.policy?.policyId;
    const search =
      service === null
        ? { ...(policyId !== undefined && { policy: policyId }), at }
        : { service: service.serviceId, ...causeIn(simulated), at };
    const { href } = router.buildLocation({ to: '/oncall/simulator', search });
    clipboard.copy(new URL(router.history.createHref(href), location.href).href);
  };
  return (
    <Button
      variant="default"
      leftSection={clipboard.copied ? <IconCheck size={16} /> : <IconLink size={16} />}
      onClick={copy}
    >
      {clipboard.copied ? 'Copied' : 'Copy link'}
    </Button>
  );
}
