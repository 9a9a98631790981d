import { Migration } from '@mikro-orm/migrations';

/**
 * A colour for each member of an organization: of twelve, one that the fewest have. The database chooses it, so that
 * whatever makes a member gives them one; the lock on the organization keeps two newcomers from taking the same.
 */
export class PersonColors extends Migration {
  override up(): void {
    this.addSql(`
      alter table memberships add column color integer;
      update memberships m set color = (n.place - 1) % 12
        from (
          select org_id, user_id, row_number() over (partition by org_id order by created_at, user_id) as place
          from memberships
        ) n
        where n.org_id = m.org_id and n.user_id = m.user_id;
      alter table memberships
        alter column color set default -1, alter column color set not null,
        add check (color between 0 and 11);

      create index memberships_by_color on memberships (org_id, color);

      -- Counts no further than 20 of each, so that a newcomer costs as much with 10,000 members as with 240.
      create function choose_person_color()
      returns trigger
      language plpgsql
      as $function$
      begin
        perform from organizations where id = new.org_id for no key update;
        select c into new.color
          from generate_series(0, 11) c, lateral (
            select count(*) as n from (select from memberships where org_id = new.org_id and color = c limit 20) m
          ) used
          order by n, case when n < 20 then c else random() end limit 1;
        return new;
      end
      $function$;

      create trigger memberships_choose_color before insert on memberships
        for each row when (new.color < 0) execute function choose_person_color();
    `);
  }
}
