/** Chart views and image writers in the lazily loaded part of the page. */
export { GridView } from './GridView.tsx'
export { HeatView } from './HeatView.tsx'
export { heatPicture } from './svg-heat.ts'
export { gridPicture, tablePicture } from './svg-list.ts'
export { areaMarks, barMarks, lineMarks, stackMarks, timePicture } from './svg-time.ts'
export { TableView } from './TableView.tsx'
export { gridList, tableList } from './table-rows.ts'
