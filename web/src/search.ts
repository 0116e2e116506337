// What is typed into the field at the top: a filter of the queue; elsewhere the name of a workload.
import { signal } from '@preact/signals'
export const search = signal('')
