import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { useLayoutEffect, useRef, useState } from 'react';

import type { Rule } from '#console/api/actions.ts';
import listClasses from '#console/pages/incidents/incident_list.module.css';
import classes from '#console/pages/rules/rule_row.module.css';
import { RuleRow } from '#console/pages/rules/rule_row.tsx';

const ROW_PX = 53;

interface RuleRowsProps {
  readonly rules: readonly Rule[];
  /** Whether the rules are being reloaded. */
  readonly isOld: boolean;
  readonly mayEdit: boolean;
  onSwitch(rule: Rule, enabled: boolean): void;
  onDelete(rule: Rule): void;
}

/** List of any number of rules, of which only the rows on the screen are in the document. */
export function RuleRows({ rules, isOld, mayEdit, onSwitch, onDelete }: RuleRowsProps) {
  const list = useRef<HTMLUListElement>(null);
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const { top: fromScreen = 0 } = list.current?.getBoundingClientRect() ?? {};
    setTop(Math.round(fromScreen + window.scrollY));
  }, []);
  const virtual = useWindowVirtualizer({
    count: rules.length,
    estimateSize: () => ROW_PX,
    overscan: 12,
    scrollMargin: top,
    getItemKey: (index) => rules[index]?.ruleId ?? index,
  });
  return (
    <ul
      ref={list}
      className={`${listClasses.list} ${classes.list}`}
      aria-label="Rules"
      aria-busy={isOld}
      style={{ height: virtual.getTotalSize() + 2 }}
    >
      {virtual.getVirtualItems().map(({ index, key, start }) => {
        const rule = rules[index];
        if (rule === undefined) return null;
        return (
          <li
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            data-row={rule.ruleId}
            data-first={index === 0 ? '' : undefined}
            aria-setsize={rules.length}
            aria-posinset={index + 1}
            className={classes.row}
            style={{ top: start - top }}
          >
            <RuleRow
              rule={rule}
              mayEdit={mayEdit}
              onSwitch={(enabled) => onSwitch(rule, enabled)}
              onDelete={() => onDelete(rule)}
            />
          </li>
        );
      })}
    </ul>
  );
}
