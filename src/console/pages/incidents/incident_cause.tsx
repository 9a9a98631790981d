import { Link } from '@tanstack/react-router';

import type { Incident } from '#console/api/actions.ts';
import { serverNow } from '#console/api/http.ts';
import { Card } from '#console/components/card.tsx';
import { AlertDetails } from '#console/pages/incidents/alert_details.tsx';
import { ExceptionDetails } from '#console/pages/incidents/exception_details.tsx';
import { type Measurement, MetricChart } from '#console/pages/incidents/metric_chart.tsx';
import classes from '#console/pages/incidents/incident_cause.module.css';
import { metricSearch } from '#console/pages/incidents/metric_search.ts';
import { comparedTexts, measureOf } from '#modules/metrics/decide/quantity.ts';

/** Cause of the incident: what made the rule fire. A storm shows it in its own card. */
export function IncidentCause({ incident }: { readonly incident: Incident }) {
  switch (incident.kind) {
    case 'manual':
      return null;
    case 'alert':
      return <AlertDetails incident={incident} />;
    case 'exception':
      return incident.exceptionGroupId === null ? null : <ExceptionDetails incident={incident} />;
    case 'metric_threshold': {
      const measured = incident.details as Partial<Measurement>;
      if (measured.metricName === undefined || measured.threshold === undefined) return null;
      return <MetricDetails incident={incident} measured={measured as Measurement} />;
    }
  }
}

function MetricDetails({ incident, measured }: { readonly incident: Incident; readonly measured: Measurement }) {
  const { metricName, aggregation, comparator, windowMinutes } = measured;
  const { value, threshold } = comparedTexts(measured, measureOf(metricName, aggregation));
  return (
    <Card
      title="What was measured"
      action={
        <>
          {incident.ruleId !== null && (
            <>
              <Link to="/rules/$ruleId" params={{ ruleId: incident.ruleId }}>
                The rule
              </Link>{' '}
            </>
          )}
          <Link to="/explore" search={metricSearch(incident, measured, serverNow())}>
            In Metrics
          </Link>
        </>
      }
    >
      <div className={classes.measure}>
        <span className={classes.value}>{value}</span>
        <span>
          {comparator} {threshold}
        </span>
      </div>
      <p className={classes.note}>
        {aggregation} of <code>{metricName}</code> over {windowMinutes} min
      </p>
      <div className={classes.chart}>
        <MetricChart incident={incident} measured={measured} />
      </div>
    </Card>
  );
}
