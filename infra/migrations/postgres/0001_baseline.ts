import { Migration } from '@mikro-orm/migrations';

import { agents } from './baseline/agents.ts';
import { alerts } from './baseline/alerts.ts';
import { audit } from './baseline/audit.ts';
import { configuration } from './baseline/configuration.ts';
import { contacts } from './baseline/contacts.ts';
import { exceptions } from './baseline/exceptions.ts';
import { incidents } from './baseline/incidents.ts';
import { metrics } from './baseline/metrics.ts';
import { moveIns } from './baseline/move_ins.ts';
import { onCall } from './baseline/on_call.ts';
import { organizations } from './baseline/organizations.ts';
import { places } from './baseline/places.ts';
import { provisioning } from './baseline/provisioning.ts';
import { releases } from './baseline/releases.ts';
import { rules } from './baseline/rules.ts';
import { services } from './baseline/services.ts';
import { signIn } from './baseline/sign_in.ts';
import { statusPages } from './baseline/status_pages.ts';
import { work } from './baseline/work.ts';

/** Parts in an order in which none refers to a later one. */
const PARTS = [
  organizations,
  audit,
  signIn,
  onCall,
  provisioning,
  configuration,
  services,
  metrics,
  exceptions,
  releases,
  rules,
  incidents,
  alerts,
  contacts,
  places,
  statusPages,
  moveIns,
  agents,
  work,
];

/**
 * Periodic work that shows the health of the pager. It counts as done at installation, so that it is not reported late before
 * its first run.
 */
const DONE_AT_INSTALLATION = `
  insert into leases (name, holder, held_until, done_at)
    select name, 'nobody', 'epoch', now()
    from unnest(array['evaluate_rules', 'evaluate_long_rules', 'bring_timers_back']) name;
`;

/** All tables of the first release. */
export class Baseline extends Migration {
  override up(): void {
    for (const part of PARTS) this.addSql(part);
    this.addSql(DONE_AT_INSTALLATION);
  }
}
