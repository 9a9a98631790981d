import type { AlertEndpoint } from '#ingest/protocols/alerts/alert_protocol.ts';
import { ALERTMANAGER_ENDPOINTS } from '#ingest/protocols/alerts/alertmanager.ts';
import { MAIL_ENDPOINTS } from '#ingest/protocols/alerts/mail.ts';
import { OPSGENIE_ENDPOINTS } from '#ingest/protocols/alerts/opsgenie.ts';
import { OWN_EVENTS } from '#ingest/protocols/alerts/own_events.ts';
import { PAGERDUTY_ENDPOINTS } from '#ingest/protocols/alerts/pagerduty.ts';
import { SNS_ENDPOINT } from '#ingest/protocols/alerts/sns.ts';
import { WEBHOOK_ENDPOINTS } from '#ingest/protocols/alerts/webhook.ts';
import { VICTOROPS_ENDPOINTS } from '#ingest/protocols/alerts/victorops.ts';

/** Every address at which other tools send alerts. */
export const ALERT_ENDPOINTS: readonly AlertEndpoint[] = [
  OWN_EVENTS,
  ...PAGERDUTY_ENDPOINTS,
  ...ALERTMANAGER_ENDPOINTS,
  ...OPSGENIE_ENDPOINTS,
  ...VICTOROPS_ENDPOINTS,
  ...WEBHOOK_ENDPOINTS,
  ...MAIL_ENDPOINTS,
  SNS_ENDPOINT,
];
