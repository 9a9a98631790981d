import { reasonOf } from '#modules/incidents/decide/reasons.ts';
import { findOldRules, readTimeZoneRules } from '#entry/time_zone_rules.ts';
import type { AppContext } from '#entry/compose.ts';

/** Logs problems that would keep pages from being sent, before one has to be. */
export async function warnOfDelivery({ actions, log }: Pick<AppContext, 'actions' | 'log'>): Promise<void> {
  const { installation } = actions;
  const oldRules = findOldRules(readTimeZoneRules());
  if (oldRules !== null) log.warn({}, oldRules);
  if (!installation.hasPushContact) {
    log.warn(
      {},
      'push messages name no contact of this server, and push services such as that of Apple may refuse them: set MAIL_FROM, or BASE_URL to a public https address',
    );
  }
  const fault = await installation.findMailFault();
  if (fault !== null) log.warn({ reason: fault }, `no mail leaves: ${reasonOf(fault)}`);
}
