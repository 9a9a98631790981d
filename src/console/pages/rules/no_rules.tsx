import { Button, Skeleton } from '@mantine/core';
import { IconActivityHeartbeat } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { ResultOf } from '#console/api/actions.ts';
import { actionQuery } from '#console/api/queries.ts';
import { Card, Row } from '#console/components/card.tsx';
import { EmptyState, NothingMatches } from '#console/components/lists/empty_state.tsx';
import { Name } from '#console/components/text/name.tsx';
import type { RuleStart } from '#console/pages/rules/rule_filter.ts';
import { useOrganization } from '#console/shell/organization.tsx';
import { conditionText } from '#modules/rules/decide/rule_kinds.ts';

interface NoRulesProps {
  readonly isFiltered: boolean;
  readonly onClear: () => void;
  /** Button that opens the empty form, if the person may. */
  readonly create: ReactNode;
}

/** Empty state: says that nothing matches, or offers rules for data that arrives while there are none. */
export function NoRules({ isFiltered, onClear, create }: NoRulesProps) {
  if (isFiltered) {
    return <NothingMatches what="rule" onClear={onClear} />;
  }
  return (
    <>
      <EmptyState icon={<IconActivityHeartbeat size={24} />} title="No rule yet" actions={create}>
        A rule watches a metric or new exceptions of a service. When it fires, it opens an incident and pages people by
        an escalation policy. Without rules nobody is ever paged.
      </EmptyState>
      {create !== false && <Autocomplete />}
    </>
  );
}

type Suggestion = ResultOf<'suggest_rules'>['suggestions'][number];

function Autocomplete() {
  const { orgId } = useOrganization().org;
  const { data } = useQuery(actionQuery(orgId, 'rules', 'suggest_rules', {}));
  if (data === undefined) return <Skeleton height={180} radius="lg" mt="md" />;
  if (data.suggestions.length === 0) return null;
  return (
    <div style={{ marginTop: '1.25rem' }}>
      <Card
        title="For what your services send"
        about="Each opens the form with these values, beside what the rule would have done until now."
        rows={data.suggestions.map((suggestion) => (
          <Row
            key={`${suggestion.serviceId} ${suggestion.name}`}
            title={<Name>{suggestion.name}</Name>}
            sub={conditionText(suggestion)}
          >
            <Button
              variant="default"
              renderRoot={(props) => <Link to="/rules/new" search={startOf(suggestion)} {...props} />}
            >
              Use
            </Button>
          </Row>
        ))}
      />
    </div>
  );
}

function startOf({ serviceId, name, kind, config }: Suggestion): RuleStart {
  if (!('metricName' in config)) return { kind, service: serviceId, name };
  const { metricName, aggregation, comparator, threshold, windowMinutes } = config;
  return {
    kind,
    service: serviceId,
    name,
    metric: metricName,
    aggregation,
    comparator,
    threshold,
    window: windowMinutes,
  };
}
