import { Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';

import type { ServiceWithKeys } from '#console/api/actions.ts';
import { Card, Row } from '#console/components/card.tsx';
import { Name } from '#console/components/text/name.tsx';
import { Status, type Tone } from '#console/components/status.tsx';
import { MissingMetric } from '#console/pages/rules/missing_metric.tsx';
import { durationText } from '#console/components/text/time_text.ts';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';

type Rule = ServiceWithKeys['alertRules'][number];

const STATUS: Record<Rule['status'], readonly [Tone, string]> = {
  active: ['green', 'active'],
  disabled: ['gray', 'disabled'],
  capability_disabled: ['amber', 'capability disabled'],
};

const NO_DATA: readonly [Tone, string] = ['amber', 'no data yet'];
const WAITING: readonly [Tone, string] = ['amber', 'waiting for data'];

/** Card of the rules that open incidents for this service. */
export function RulesCard({ service }: { readonly service: ServiceWithKeys }) {
  const { alertRules } = service;
  if (alertRules.length === 0) {
    return (
      <Card title="Alert rules">
        <Text size="sm" c="dimmed">
          No rule watches this service: of what it sends nobody is paged.{' '}
          <Link to="/rules/new" search={{ service: service.serviceId }}>
            Create a rule
          </Link>
        </Text>
      </Card>
    );
  }
  return (
    <Card
      title="Alert rules"
      rows={alertRules.map((rule) => {
        const [tone, word] = stateOf(rule);
        return (
          <Row
            key={rule.ruleId}
            title={
              <Link to="/rules/$ruleId" params={{ ruleId: rule.ruleId }}>
                <Name>{rule.name}</Name>
              </Link>
            }
            sub={<Condition rule={rule} />}
          >
            <Status tone={tone}>{word}</Status>
          </Row>
        );
      })}
    />
  );
}

/** Card that leads to the tools that send alerts of this service. */
export function OtherToolsCard({ service: { serviceId } }: { readonly service: ServiceWithKeys }) {
  return (
    <Card title="Alerts from other tools">
      <Text size="sm" c="dimmed">
        Alertmanager, Grafana, Zabbix and whatever speaks to PagerDuty or Opsgenie can page people through this service.{' '}
        <Link to="/services/$serviceId/alerts" params={{ serviceId }}>
          Sources and routes
        </Link>
      </Text>
    </Card>
  );
}

function stateOf(rule: Rule): readonly [Tone, string] {
  if (rule.status !== 'active') return STATUS[rule.status];
  if (rule.waitingForData !== null) return WAITING;
  return rule.missingMetric === null ? STATUS.active : NO_DATA;
}

/** Text on when the rule fires, and what prevents it from firing. */
function Condition({ rule }: { readonly rule: Rule }) {
  const { missingMetric, waitingForData } = rule;
  return (
    <>
      {conditionOf(rule)}
      {waitingForData !== null && (
        <div>
          Data is {durationText(waitingForData.behindSeconds * 1_000)} behind. Until it is stored, the rule neither
          opens nor resolves incidents.
        </div>
      )}
      {missingMetric !== null && (
        <div>
          <MissingMetric missing={missingMetric} />
        </div>
      )}
    </>
  );
}

/** Returns the condition as text, with a note if the rule pages nobody. */
function conditionOf(rule: Rule): string {
  if (rule.unreadable !== undefined) return `It was switched off because it cannot be read: ${rule.unreadable}.`;
  return `${conditionText(rule)}${rule.escalationPolicyId === null ? ' Pages nobody.' : ''}`;
}
