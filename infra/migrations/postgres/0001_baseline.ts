import { Migration } from '@mikro-orm/migrations';

import { agents } from './baseline/agents.ts';
import { audit } from './baseline/audit.ts';
import { contacts } from './baseline/contacts.ts';
import { exceptions } from './baseline/exceptions.ts';
import { incidents } from './baseline/incidents.ts';
import { metrics } from './baseline/metrics.ts';
import { onCall } from './baseline/on_call.ts';
import { organizations } from './baseline/organizations.ts';
import { releases } from './baseline/releases.ts';
import { rules } from './baseline/rules.ts';
import { services } from './baseline/services.ts';
import { signIn } from './baseline/sign_in.ts';
import { work } from './baseline/work.ts';

/** Parts in an order in which none refers to a later one. */
const PARTS = [
  organizations,
  audit,
  signIn,
  services,
  metrics,
  exceptions,
  releases,
  onCall,
  rules,
  incidents,
  contacts,
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
