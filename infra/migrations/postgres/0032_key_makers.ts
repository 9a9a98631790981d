import { Migration } from '@mikro-orm/migrations';

/**
 * Keys store their maker, so that the keys of a person who leaves can be reviewed. The secret addresses of schedules belong to a
 * person and end with the membership. Existing keys and addresses get the maker that the audit log names, if it names one.
 */
export class KeyMakers extends Migration {
  override up(): void {
    this.addSql(`
      alter table api_keys add created_by text references users on delete set null;
      update api_keys set created_by = user_id where user_id is not null;
      update api_keys k set created_by = u.id from audit_log a join users u on u.id = a.actor->>'userId'
        where k.created_by is null and a.org_id = k.org_id and a.target = k.id and a.action = 'create_api_key';

      alter table calendar_feeds add user_id text;
      update calendar_feeds f set user_id = m.user_id
        from audit_log a join memberships m on m.org_id = a.org_id and m.user_id = a.actor->>'userId'
        where a.org_id = f.org_id and a.target = f.schedule_id and a.action = 'create_calendar_feed'
          and a.at = f.created_at;
      alter table calendar_feeds add foreign key (org_id, user_id) references memberships on delete cascade;
      drop index calendar_feeds_live;
      create unique index calendar_feeds_live on calendar_feeds (schedule_id, coalesce(user_id, ''))
        where revoked_at is null;
      create index calendar_feeds_by_member on calendar_feeds (org_id, user_id);
    `);
  }
}
