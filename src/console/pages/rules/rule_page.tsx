import { Button, Group, Switch } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import type { Rule } from '#console/api/actions.ts';
import { incidentSearchQuery } from '#console/api/incidents.ts';
import { ruleQuery } from '#console/api/rules.ts';
import { Card, Row } from '#console/components/card.tsx';
import { ErrorAlert } from '#console/components/error_alert.tsx';
import { ShowMore } from '#console/components/lists/load_more.tsx';
import { lazyPart } from '#console/components/lazy_part.tsx';
import { ManagedMark } from '#console/components/managed_mark.tsx';
import { Back, Page } from '#console/components/page.tsx';
import { IncidentStatus, Status } from '#console/components/status.tsx';
import { isolateBidi } from '#console/components/text/bidi.ts';
import { NoteText } from '#console/components/text/note_text.tsx';
import { Name } from '#console/components/text/name.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { Timestamp } from '#console/components/text/timestamp.tsx';
import { IconActivityHeartbeat, IconCopy, IconPencil, IconTrash } from '#console/icons.ts';
import { DeleteRule } from '#console/pages/rules/delete_rule.tsx';
import { MaintenanceNotice } from '#console/pages/rules/maintenance_notice.tsx';
import { MissingMetric } from '#console/pages/rules/missing_metric.tsx';
import { RuleReplay } from '#console/pages/rules/rule_replay.tsx';
import { stateOf } from '#console/pages/rules/rule_state.ts';
import { thresholdOf, valuesOfRule } from '#console/pages/rules/rule_values.ts';
import { settingSentences } from '#console/pages/rules/settings/setting_values.ts';
import { useSwitchRule } from '#console/pages/rules/use_rule_change.ts';
import { NotLoaded } from '#console/shell/in_other_organization.tsx';
import { useShortcut } from '#console/shell/keyboard.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';
import { settingsOf } from '#modules/rules/decide/rule_settings.ts';
import classes from '#console/pages/rules/rule_page.module.css';

const ExceptionReplay = lazyPart(() =>
  import('#console/pages/exceptions/triage/exception_replay.tsx').then((m) => m.ExceptionReplay),
);

const route = getRouteApi('/inside/rules/$ruleId');

export function RulePage() {
  const { ruleId } = route.useParams();
  const { org } = useOrganization();
  const loading = useQuery(ruleQuery(org.orgId, ruleId));
  const { data } = loading;
  const back = <Back to="/rules">Rules</Back>;
  if (data !== undefined && data !== null) return <LoadedRule key={ruleId} rule={data} back={back} />;
  return (
    <Page title="Rule" above={back}>
      <NotLoaded
        noun="Rule"
        icon={<IconActivityHeartbeat size={24} />}
        query={loading}
        find={(client, orgId) => client.fetchQuery(ruleQuery(orgId, ruleId))}
        heights={[96, 180]}
      />
    </Page>
  );
}

function LoadedRule({ rule, back }: { readonly rule: Rule; readonly back: React.ReactNode }) {
  const { may } = useOrganization();
  const navigate = useNavigate();
  const switching = useSwitchRule();
  const [isDeleting, setIsDeleting] = useState(false);
  const { ruleId, name, serviceId, serviceName } = rule;
  const mayEdit = may('oncall:edit');
  const threshold = thresholdOf(valuesOfRule(rule));
  const sentences = settingSentences(rule.kind, rule.settings);
  useShortcut('e', () => {
    if (mayEdit) void navigate({ to: '/rules/$ruleId/edit', params: { ruleId } });
  });
  return (
    <Page
      title={name}
      permission="oncall:edit"
      above={back}
      lead={conditionText(rule)}
      actions={
        mayEdit && (
          <>
            <Button
              variant="default"
              leftSection={<IconCopy size={16} />}
              renderRoot={(props) => <Link to="/rules/new" search={{ copy: ruleId }} {...props} />}
            >
              Duplicate
            </Button>
            <Button
              leftSection={<IconPencil size={16} />}
              renderRoot={(props) => <Link to="/rules/$ruleId/edit" params={{ ruleId }} {...props} />}
            >
              Edit
            </Button>
          </>
        )
      }
    >
      <MaintenanceNotice of={{ ruleId }} />
      <Card
        title="State"
        action={
          mayEdit && (
            <Switch
              checked={rule.enabled}
              onChange={(event) => switching.mutate({ rule, enabled: event.currentTarget.checked })}
              label="Enabled"
              labelPosition="left"
              aria-label={`${isolateBidi(name)} enabled`}
              className={classes.switch}
            />
          )
        }
      >
        <State rule={rule} />
        <p className={`${classes.service} dimmed small`}>
          Watches{' '}
          <Link to="/services/$serviceId" params={{ serviceId }}>
            <Name>{serviceName}</Name>
          </Link>
          .{' '}
          {rule.lastFiredAt === null ? (
            'It has never fired.'
          ) : (
            <>
              It last fired <Timestamp at={rule.lastFiredAt} />, {rule.firedCount === 0 ? 'not' : `${rule.firedCount}×`}{' '}
              in the last 7 days.
            </>
          )}
        </p>
        {sentences.map((sentence) => (
          <p key={sentence} className={`${classes.service} dimmed small`}>
            {sentence}
          </p>
        ))}
      </Card>
      <Guidance rule={rule} />
      <Paged rule={rule} />
      {threshold !== null && (
        <div className={classes.replay}>
          <RuleReplay
            title="What it measures"
            serviceId={serviceId}
            ruleId={ruleId}
            rule={threshold}
            settings={settingsOf(rule.settings)}
            escalationPolicyId={rule.escalationPolicyId}
          />
        </div>
      )}
      {rule.kind === 'exception' && (
        <ExceptionReplay
          serviceId={serviceId}
          minSeverity={valuesOfRule(rule).config['minSeverity']}
          settings={rule.settings}
        />
      )}
      <RuleIncidents ruleId={ruleId} />
      {mayEdit && (
        <Group mt="lg">
          <Button variant="light" color="red" leftSection={<IconTrash size={16} />} onClick={() => setIsDeleting(true)}>
            Delete the rule
          </Button>
        </Group>
      )}
      <ManagedMark id={rule.ruleId} />
      {isDeleting && (
        <DeleteRule
          rule={rule}
          onClose={() => setIsDeleting(false)}
          onDeleted={() => void navigate({ to: '/rules' })}
        />
      )}
    </Page>
  );
}

function State({ rule }: { readonly rule: Rule }) {
  const [tone, word] = stateOf(rule);
  const { openIncidentId, waitingForData, missingMetric, status } = rule;
  return (
    <div className={`${classes.state} row wraps small`}>
      <Status tone={tone}>{word}</Status>
      {openIncidentId !== null && (
        <Link to="/incidents/$incidentId" params={{ incidentId: openIncidentId }}>
          {rule.openCount === 1 ? 'Open incident' : `Newest of ${rule.openCount} open incidents`}
        </Link>
      )}
      {rule.unreadable !== undefined && (
        <span className="dimmed">
          It was switched off because it cannot be read: {rule.unreadable}. Correct it first.
        </span>
      )}
      {status === 'capability_disabled' && (
        <span className="dimmed">The service lacks on-call or the capability that feeds this rule.</span>
      )}
      {waitingForData !== null && (
        <span className="dimmed">
          Data is {durationText(waitingForData.behindSeconds * 1_000)} behind. Until it is stored, the rule neither
          opens nor resolves incidents.
        </span>
      )}
      {missingMetric !== null && (
        <span className="dimmed">
          <MissingMetric missing={missingMetric} />
        </span>
      )}
    </div>
  );
}

/** Meaning of the rule's incidents and their runbook. */
function Guidance({ rule: { settings } }: { readonly rule: Rule }) {
  const { description = null, runbookUrl = null } = settings;
  if (description === null && runbookUrl === null) return null;
  return (
    <Card
      title="What to do"
      action={
        runbookUrl !== null && (
          <a href={runbookUrl} title={runbookUrl} target="_blank" rel="noopener noreferrer">
            Runbook
          </a>
        )
      }
    >
      {description !== null && <NoteText>{description}</NoteText>}
    </Card>
  );
}

/** Policy of the rule, and the people whom an incident would page if it opened now. */
function Paged({ rule: { pages } }: { readonly rule: Rule }) {
  if (pages === null) {
    return (
      <Card title="Whom it pages">
        <p className={`${classes.service} dimmed small`}>
          Nobody: it has no escalation policy. It only opens incidents.
        </p>
      </Card>
    );
  }
  return (
    <Card
      title="Whom it pages"
      about={
        <>
          <Name>{pages.policyName}</Name>, of <Name>{pages.teamName}</Name>
        </>
      }
      rows={
        pages.people.length === 0
          ? undefined
          : pages.people.map(({ userId, name, afterMinutes }) => (
              <Row key={userId} title={<Name>{name}</Name>}>
                <span className="dimmed numbers">{afterMinutes === 0 ? 'at once' : `after ${afterMinutes} min`}</span>
              </Row>
            ))
      }
    >
      {pages.people.length === 0 && <Status tone="red">An incident that opened now would reach nobody.</Status>}
      {pages.peopleCount > pages.people.length && (
        <p className={`${classes.service} dimmed small`}>and {pages.peopleCount - pages.people.length} more people</p>
      )}
    </Card>
  );
}

const PAGE = 10;

/** Card of the incidents that a rule has opened: open ones first, then the newest. */
function RuleIncidents({ ruleId }: { readonly ruleId: string }) {
  const { orgId } = useOrganization().org;
  const list = useInfiniteQuery({
    ...incidentSearchQuery(orgId, { ruleId, limit: PAGE }),
    placeholderData: keepPreviousData,
  });
  const { data, error } = list;
  if (error !== null && data === undefined)
    return <ErrorAlert error={error} title="Its incidents could not be loaded" />;
  const incidents = data?.pages.flatMap((page) => page.incidents) ?? [];
  return (
    <Card
      title="Incidents"
      rows={
        incidents.length === 0
          ? undefined
          : incidents.map(({ incidentId, number, title, status, triggeredAt }) => (
              <Row
                key={incidentId}
                title={
                  <Link to="/incidents/$incidentId" params={{ incidentId }}>
                    <Name>{title}</Name>
                  </Link>
                }
                sub={
                  <>
                    #{number}, <Timestamp at={triggeredAt} format="date_time" />
                  </>
                }
              >
                <IncidentStatus status={status} />
              </Row>
            ))
      }
    >
      {data !== undefined && incidents.length === 0 && (
        <p className={`${classes.service} dimmed small`}>It has opened none.</p>
      )}
      <ShowMore list={list} />
    </Card>
  );
}
