// Kernels by names that tell them apart in few words, as reports for people have them; the whole name is in tooltips and in CSV.

import {num, str, type Context} from "./panel";
import type {Column} from "./table";
import type {Cell, Rows} from "./types";

export interface KernelName {
  telling: string;
  whole: string; // in C++
}

export async function kernelNames(query: Context["query"]): Promise<Map<number, KernelName>> {
  const {rows} = await query(
    "SELECT k.id, p.telling_name, coalesce(nullif(k.long_name, ''), k.name) FROM page_kernel p JOIN kernel k ON k.id = p.kernel",
  );
  return new Map(rows.map(([id, telling, whole]) => [num(id), {telling: str(telling), whole: str(whole)}]));
}

// Of a column of names in rows that have the number of the kernel in another column.
export function kernelNameColumn(names: Map<number, KernelName>, {columns}: Rows): Partial<Column> {
  const at = columns.indexOf("kernel");
  const nameOf = (row: Cell[]): KernelName | undefined => names.get(num(row[at]));
  return {
    text: (row) => nameOf(row)?.telling,
    copied: (row) => nameOf(row)?.whole,
    note: (row) => nameOf(row)?.whole ?? "",
  };
}
