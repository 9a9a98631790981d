import { type Expression, type ExpressionBuilder, sql, type SqlBool } from 'kysely';

import { asId } from '#kernel/ids.ts';
import type { AlertFilter, FilterText } from '#modules/alerts/decide/alert_filter.ts';
import { anyOf } from '#storage/postgres/store.ts';
import type { Tables } from '#storage/postgres/tables.ts';

type Builder = ExpressionBuilder<Tables & { a: Tables['alerts'] }, 'a'>;

const COLUMNS = { firstSeenAt: 'a.first_seen_at', lastSeenAt: 'a.last_seen_at' } as const;

/** Converts a filter to a condition on `alerts as a`. */
export function alertCondition(eb: Builder, filter: AlertFilter): Expression<SqlBool> {
  switch (filter.kind) {
    case 'all':
      return eb.and(filter.of.map((part) => alertCondition(eb, part)));
    case 'any':
      return eb.or(filter.of.map((part) => alertCondition(eb, part)));
    case 'not':
      return eb.not(alertCondition(eb, filter.of));
    case 'status':
      return eb('a.status', '=', anyOf(filter.among));
    case 'severity':
      return eb('a.severity', '=', anyOf(filter.among));
    case 'id':
      return eb('a.id', '=', asId('alert', filter.id));
    case 'text': {
      const pattern = filter.isWhole ? likeOf(filter.pattern) : `%${likeOf(filter.pattern)}%`;
      return sql<SqlBool>`coalesce(${textOf(eb, filter.field)}, '') ilike ${pattern}`;
    }
    case 'tag': {
      const tags = sql`${eb.ref('a.details')}->'tags'`;
      return sql<SqlBool>`exists (
        select from json_array_elements_text(
          case json_typeof(${tags}) when 'array' then ${tags} else '[]' end
        ) as tags(tag) where tag ilike ${likeOf(filter.pattern)})`;
    }
    case 'time':
      return eb(COLUMNS[filter.field], filter.is, filter.at);
    case 'occurrences':
      return eb('a.occurrences', filter.is, filter.count);
  }
}

function textOf(eb: Builder, field: FilterText): Expression<string | null> {
  switch (field) {
    case 'title':
      return eb.ref('a.title');
    case 'key':
      return eb.ref('a.key');
    case 'tool':
      return eb.ref('a.tool');
    case 'entity':
    case 'description':
      return sql<string | null>`${eb.ref('a.details')}->>cast(${field} as text)`;
  }
}

/** `*` stands for any characters; what has a meaning for `like` stands for itself. */
function likeOf(pattern: string): string {
  return pattern.replaceAll(/[\\%_]/g, String.raw`\$&`).replaceAll('*', '%');
}
