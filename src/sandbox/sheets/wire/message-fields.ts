/**
 * The fields of every message of the Sheets API, as its discovery document has them: `name`, `name:Message` for a message or a list of
 * them, `name:{Message}` for messages under keys of their own. A test holds them to the types that come with `googleapis`.
 */
export const MESSAGE_FIELDS = {
  AddBandingRequest: 'bandedRange:BandedRange',
  AddBandingResponse: 'bandedRange:BandedRange',
  AddChartRequest: 'chart:EmbeddedChart',
  AddChartResponse: 'chart:EmbeddedChart',
  AddCommentReplyRequest: 'commentId post:Post',
  AddCommentReplyResponse: 'post:Post',
  AddConditionalFormatRuleRequest: 'index rule:ConditionalFormatRule',
  AddDataSourceRequest: 'dataSource:DataSource',
  AddDataSourceResponse: 'dataExecutionStatus:DataExecutionStatus dataSource:DataSource',
  AddDimensionGroupRequest: 'range:DimensionRange',
  AddDimensionGroupResponse: 'dimensionGroups:DimensionGroup',
  AddFilterViewRequest: 'filter:FilterView',
  AddFilterViewResponse: 'filter:FilterView',
  AddNamedRangeRequest: 'namedRange:NamedRange',
  AddNamedRangeResponse: 'namedRange:NamedRange',
  AddProtectedRangeRequest: 'protectedRange:ProtectedRange',
  AddProtectedRangeResponse: 'protectedRange:ProtectedRange',
  AddSheetRequest: 'properties:SheetProperties',
  AddSheetResponse: 'properties:SheetProperties',
  AddSlicerRequest: 'slicer:Slicer',
  AddSlicerResponse: 'slicer:Slicer',
  AddTableRequest: 'table:Table',
  AddTableResponse: 'table:Table',
  AppendCellsRequest: 'fields rows:RowData sheetId tableId',
  AppendDimensionRequest: 'dimension length sheetId',
  AppendValuesResponse: 'spreadsheetId tableRange updates:UpdateValuesResponse',
  AutoFillRequest: 'range:GridRange sourceAndDestination:SourceAndDestination useAlternateSeries',
  AutoResizeDimensionsRequest:
    'dataSourceSheetDimensions:DataSourceSheetDimensionRange dimensions:DimensionRange',
  BandedRange:
    'bandedRangeId bandedRangeReference columnProperties:BandingProperties range:GridRange rowProperties:BandingProperties',
  BandingProperties:
    'firstBandColor:Color firstBandColorStyle:ColorStyle footerColor:Color footerColorStyle:ColorStyle headerColor:Color headerColorStyle:ColorStyle secondBandColor:Color secondBandColorStyle:ColorStyle',
  BaselineValueFormat:
    'comparisonType description negativeColor:Color negativeColorStyle:ColorStyle position:TextPosition positiveColor:Color positiveColorStyle:ColorStyle textFormat:TextFormat',
  BasicChartAxis:
    'format:TextFormat position title titleTextPosition:TextPosition viewWindowOptions:ChartAxisViewWindowOptions',
  BasicChartDomain: 'domain:ChartData reversed',
  BasicChartSeries:
    'color:Color colorStyle:ColorStyle dataLabel:DataLabel lineStyle:LineStyle pointStyle:PointStyle series:ChartData styleOverrides:BasicSeriesDataPointStyleOverride targetAxis type',
  BasicChartSpec:
    'axis:BasicChartAxis chartType compareMode domains:BasicChartDomain headerCount interpolateNulls legendPosition lineSmoothing series:BasicChartSeries stackedType threeDimensional totalDataLabel:DataLabel',
  BasicFilter: 'criteria:{FilterCriteria} filterSpecs:FilterSpec range:GridRange sortSpecs:SortSpec tableId',
  BasicSeriesDataPointStyleOverride: 'color:Color colorStyle:ColorStyle index pointStyle:PointStyle',
  BatchClearValuesByDataFilterRequest: 'dataFilters:DataFilter',
  BatchClearValuesByDataFilterResponse: 'clearedRanges spreadsheetId',
  BatchClearValuesRequest: 'ranges',
  BatchClearValuesResponse: 'clearedRanges spreadsheetId',
  BatchGetValuesByDataFilterRequest:
    'dataFilters:DataFilter dateTimeRenderOption majorDimension valueRenderOption',
  BatchGetValuesByDataFilterResponse: 'spreadsheetId valueRanges:MatchedValueRange',
  BatchGetValuesResponse: 'spreadsheetId valueRanges:ValueRange',
  BatchUpdateSpreadsheetRequest:
    'commentsViewMode includeSpreadsheetInResponse requests:Request responseIncludeGridData responseRanges',
  BatchUpdateSpreadsheetResponse:
    'commentUpdateState replies:Response spreadsheetId updatedSpreadsheet:Spreadsheet',
  BatchUpdateValuesByDataFilterRequest:
    'data:DataFilterValueRange includeValuesInResponse responseDateTimeRenderOption responseValueRenderOption valueInputOption',
  BatchUpdateValuesByDataFilterResponse:
    'responses:UpdateValuesByDataFilterResponse spreadsheetId totalUpdatedCells totalUpdatedColumns totalUpdatedRows totalUpdatedSheets',
  BatchUpdateValuesRequest:
    'data:ValueRange includeValuesInResponse responseDateTimeRenderOption responseValueRenderOption valueInputOption',
  BatchUpdateValuesResponse:
    'responses:UpdateValuesResponse spreadsheetId totalUpdatedCells totalUpdatedColumns totalUpdatedRows totalUpdatedSheets',
  BigQueryDataSourceSpec: 'projectId querySpec:BigQueryQuerySpec tableSpec:BigQueryTableSpec',
  BigQueryQuerySpec: 'rawQuery',
  BigQueryTableSpec: 'datasetId tableId tableProjectId',
  BooleanCondition: 'type values:ConditionValue',
  BooleanRule: 'condition:BooleanCondition format:CellFormat',
  Border: 'color:Color colorStyle:ColorStyle style width',
  Borders: 'bottom:Border left:Border right:Border top:Border',
  BubbleChartSpec:
    'bubbleBorderColor:Color bubbleBorderColorStyle:ColorStyle bubbleLabels:ChartData bubbleMaxRadiusSize bubbleMinRadiusSize bubbleOpacity bubbleSizes:ChartData bubbleTextStyle:TextFormat domain:ChartData groupIds:ChartData legendPosition series:ChartData',
  CancelDataSourceRefreshRequest: 'dataSourceId isAll references:DataSourceObjectReferences',
  CancelDataSourceRefreshResponse: 'statuses:CancelDataSourceRefreshStatus',
  CancelDataSourceRefreshStatus:
    'reference:DataSourceObjectReference refreshCancellationStatus:RefreshCancellationStatus',
  CandlestickChartSpec: 'data:CandlestickData domain:CandlestickDomain',
  CandlestickData:
    'closeSeries:CandlestickSeries highSeries:CandlestickSeries lowSeries:CandlestickSeries openSeries:CandlestickSeries',
  CandlestickDomain: 'data:ChartData reversed',
  CandlestickSeries: 'data:ChartData',
  CellData:
    'chipRuns:ChipRun dataSourceFormula:DataSourceFormula dataSourceTable:DataSourceTable dataValidation:DataValidationRule effectiveFormat:CellFormat effectiveValue:ExtendedValue formattedValue hyperlink note pivotTable:PivotTable textFormatRuns:TextFormatRun userEnteredFormat:CellFormat userEnteredValue:ExtendedValue',
  CellFormat:
    'backgroundColor:Color backgroundColorStyle:ColorStyle borders:Borders horizontalAlignment hyperlinkDisplayType numberFormat:NumberFormat padding:Padding textDirection textFormat:TextFormat textRotation:TextRotation verticalAlignment wrapStrategy',
  ChartAxisViewWindowOptions: 'viewWindowMax viewWindowMin viewWindowMode',
  ChartCustomNumberFormatOptions: 'prefix suffix',
  ChartData:
    'aggregateType columnReference:DataSourceColumnReference groupRule:ChartGroupRule sourceRange:ChartSourceRange',
  ChartDateTimeRule: 'type',
  ChartGroupRule: 'dateTimeRule:ChartDateTimeRule histogramRule:ChartHistogramRule',
  ChartHistogramRule: 'intervalSize maxValue minValue',
  ChartSourceRange: 'sources:GridRange',
  ChartSpec:
    'altText backgroundColor:Color backgroundColorStyle:ColorStyle basicChart:BasicChartSpec bubbleChart:BubbleChartSpec candlestickChart:CandlestickChartSpec dataSourceChartProperties:DataSourceChartProperties filterSpecs:FilterSpec fontName hiddenDimensionStrategy histogramChart:HistogramChartSpec maximized orgChart:OrgChartSpec pieChart:PieChartSpec scorecardChart:ScorecardChartSpec sortSpecs:SortSpec subtitle subtitleTextFormat:TextFormat subtitleTextPosition:TextPosition title titleTextFormat:TextFormat titleTextPosition:TextPosition treemapChart:TreemapChartSpec waterfallChart:WaterfallChartSpec',
  Chip: 'personProperties:PersonProperties richLinkProperties:RichLinkProperties',
  ChipRun: 'chip:Chip startIndex',
  ClearBasicFilterRequest: 'sheetId',
  ClearValuesRequest: '',
  ClearValuesResponse: 'clearedRange spreadsheetId',
  Color: 'alpha blue green red',
  ColorStyle: 'rgbColor:Color themeColor',
  CommentAnchor: 'anchorId range:GridRange',
  CommentThread: 'anchorId commentId headPost:Post plainTextQuote replies:Post status',
  ConditionValue: 'relativeDate userEnteredValue',
  ConditionalFormatRule: 'booleanRule:BooleanRule gradientRule:GradientRule ranges:GridRange',
  CopyPasteRequest: 'destination:GridRange pasteOrientation pasteType source:GridRange',
  CopySheetToAnotherSpreadsheetRequest: 'destinationSpreadsheetId',
  CreateDeveloperMetadataRequest: 'developerMetadata:DeveloperMetadata',
  CreateDeveloperMetadataResponse: 'developerMetadata:DeveloperMetadata',
  CutPasteRequest: 'destination:GridCoordinate pasteType source:GridRange',
  DataExecutionStatus: 'errorCode errorMessage lastRefreshTime state',
  DataFilter: 'a1Range developerMetadataLookup:DeveloperMetadataLookup gridRange:GridRange',
  DataFilterValueRange: 'dataFilter:DataFilter majorDimension values',
  DataLabel: 'customLabelData:ChartData placement textFormat:TextFormat type',
  DataSource: 'calculatedColumns:DataSourceColumn dataSourceId sheetId spec:DataSourceSpec',
  DataSourceChartProperties: 'dataExecutionStatus:DataExecutionStatus dataSourceId',
  DataSourceColumn: 'formula reference:DataSourceColumnReference',
  DataSourceColumnReference: 'name',
  DataSourceFormula: 'dataExecutionStatus:DataExecutionStatus dataSourceId',
  DataSourceObjectReference:
    'chartId dataSourceFormulaCell:GridCoordinate dataSourcePivotTableAnchorCell:GridCoordinate dataSourceTableAnchorCell:GridCoordinate sheetId',
  DataSourceObjectReferences: 'references:DataSourceObjectReference',
  DataSourceParameter: 'name namedRangeId range:GridRange',
  DataSourceRefreshDailySchedule: 'startTime:TimeOfDay',
  DataSourceRefreshMonthlySchedule: 'daysOfMonth startTime:TimeOfDay',
  DataSourceRefreshSchedule:
    'dailySchedule:DataSourceRefreshDailySchedule enabled monthlySchedule:DataSourceRefreshMonthlySchedule nextRun:Interval refreshScope weeklySchedule:DataSourceRefreshWeeklySchedule',
  DataSourceRefreshWeeklySchedule: 'daysOfWeek startTime:TimeOfDay',
  DataSourceSheetDimensionRange: 'columnReferences:DataSourceColumnReference sheetId',
  DataSourceSheetProperties: 'columns:DataSourceColumn dataExecutionStatus:DataExecutionStatus dataSourceId',
  DataSourceSpec:
    'bigQuery:BigQueryDataSourceSpec looker:LookerDataSourceSpec parameters:DataSourceParameter',
  DataSourceTable:
    'columnSelectionType columns:DataSourceColumnReference dataExecutionStatus:DataExecutionStatus dataSourceId filterSpecs:FilterSpec rowLimit sortSpecs:SortSpec',
  DataValidationRule: 'condition:BooleanCondition inputMessage showCustomUi strict',
  DateTimeRule: 'type',
  DeleteBandingRequest: 'bandedRangeId',
  DeleteCommentReplyRequest: 'commentId postId',
  DeleteCommentRequest: 'commentId',
  DeleteConditionalFormatRuleRequest: 'index sheetId',
  DeleteConditionalFormatRuleResponse: 'rule:ConditionalFormatRule',
  DeleteDataSourceRequest: 'dataSourceId',
  DeleteDeveloperMetadataRequest: 'dataFilter:DataFilter',
  DeleteDeveloperMetadataResponse: 'deletedDeveloperMetadata:DeveloperMetadata',
  DeleteDimensionGroupRequest: 'range:DimensionRange',
  DeleteDimensionGroupResponse: 'dimensionGroups:DimensionGroup',
  DeleteDimensionRequest: 'range:DimensionRange',
  DeleteDuplicatesRequest: 'comparisonColumns:DimensionRange range:GridRange',
  DeleteDuplicatesResponse: 'duplicatesRemovedCount',
  DeleteEmbeddedObjectRequest: 'objectId',
  DeleteFilterViewRequest: 'filterId',
  DeleteNamedRangeRequest: 'namedRangeId',
  DeleteProtectedRangeRequest: 'protectedRangeId',
  DeleteRangeRequest: 'range:GridRange shiftDimension',
  DeleteSheetRequest: 'sheetId',
  DeleteTableRequest: 'tableId',
  DeveloperMetadata: 'location:DeveloperMetadataLocation metadataId metadataKey metadataValue visibility',
  DeveloperMetadataLocation: 'dimensionRange:DimensionRange locationType sheetId spreadsheet',
  DeveloperMetadataLookup:
    'locationMatchingStrategy locationType metadataId metadataKey metadataLocation:DeveloperMetadataLocation metadataValue visibility',
  DimensionGroup: 'collapsed depth range:DimensionRange',
  DimensionProperties:
    'dataSourceColumnReference:DataSourceColumnReference developerMetadata:DeveloperMetadata hiddenByFilter hiddenByUser pixelSize',
  DimensionRange: 'dimension endIndex sheetId startIndex',
  DuplicateFilterViewRequest: 'filterId',
  DuplicateFilterViewResponse: 'filter:FilterView',
  DuplicateSheetRequest: 'insertSheetIndex newSheetId newSheetName sourceSheetId',
  DuplicateSheetResponse: 'properties:SheetProperties',
  Editors: 'domainUsersCanEdit groups users',
  EmbeddedChart: 'border:EmbeddedObjectBorder chartId position:EmbeddedObjectPosition spec:ChartSpec',
  EmbeddedObjectBorder: 'color:Color colorStyle:ColorStyle',
  EmbeddedObjectPosition: 'newSheet overlayPosition:OverlayPosition sheetId',
  ErrorValue: 'message type',
  ExtendedValue: 'boolValue errorValue:ErrorValue formulaValue numberValue stringValue',
  FilterCriteria:
    'condition:BooleanCondition hiddenValues visibleBackgroundColor:Color visibleBackgroundColorStyle:ColorStyle visibleForegroundColor:Color visibleForegroundColorStyle:ColorStyle',
  FilterSpec: 'columnIndex dataSourceColumnReference:DataSourceColumnReference filterCriteria:FilterCriteria',
  FilterView:
    'criteria:{FilterCriteria} filterSpecs:FilterSpec filterViewId namedRangeId range:GridRange sortSpecs:SortSpec tableId title',
  FindReplaceRequest:
    'allSheets find includeFormulas matchCase matchEntireCell range:GridRange replacement searchByRegex sheetId',
  FindReplaceResponse: 'formulasChanged occurrencesChanged rowsChanged sheetsChanged valuesChanged',
  GetSpreadsheetByDataFilterRequest:
    'commentsViewMode dataFilters:DataFilter excludeTablesInBandedRanges includeGridData',
  GradientRule: 'maxpoint:InterpolationPoint midpoint:InterpolationPoint minpoint:InterpolationPoint',
  GridCoordinate: 'columnIndex rowIndex sheetId',
  GridData:
    'columnMetadata:DimensionProperties rowData:RowData rowMetadata:DimensionProperties startColumn startRow',
  GridProperties:
    'columnCount columnGroupControlAfter frozenColumnCount frozenRowCount hideGridlines rowCount rowGroupControlAfter',
  GridRange: 'endColumnIndex endRowIndex sheetId startColumnIndex startRowIndex',
  HistogramChartSpec: 'bucketSize legendPosition outlierPercentile series:HistogramSeries showItemDividers',
  HistogramRule: 'end interval start',
  HistogramSeries: 'barColor:Color barColorStyle:ColorStyle data:ChartData',
  InsertCommentRequest: 'assigneeEmailAddress content coordinate:GridCoordinate',
  InsertCommentResponse: 'commentThread:CommentThread',
  InsertDimensionRequest: 'inheritFromBefore range:DimensionRange',
  InsertRangeRequest: 'range:GridRange shiftDimension',
  InterpolationPoint: 'color:Color colorStyle:ColorStyle type value',
  Interval: 'endTime startTime',
  IterativeCalculationSettings: 'convergenceThreshold maxIterations',
  KeyValueFormat: 'position:TextPosition textFormat:TextFormat',
  LineStyle: 'type width',
  Link: 'uri',
  LookerDataSourceSpec: 'explore instanceUri model',
  ManualRule: 'groups:ManualRuleGroup',
  ManualRuleGroup: 'groupName:ExtendedValue items:ExtendedValue',
  MatchedDeveloperMetadata: 'dataFilters:DataFilter developerMetadata:DeveloperMetadata',
  MatchedValueRange: 'dataFilters:DataFilter valueRange:ValueRange',
  MergeCellsRequest: 'mergeType range:GridRange',
  MoveDimensionRequest: 'destinationIndex source:DimensionRange',
  NamedRange: 'name namedRangeId range:GridRange',
  NumberFormat: 'pattern type',
  OrgChartSpec:
    'labels:ChartData nodeColor:Color nodeColorStyle:ColorStyle nodeSize parentLabels:ChartData selectedNodeColor:Color selectedNodeColorStyle:ColorStyle tooltips:ChartData',
  OverlayPosition: 'anchorCell:GridCoordinate heightPixels offsetXPixels offsetYPixels widthPixels',
  Padding: 'bottom left right top',
  PasteDataRequest: 'coordinate:GridCoordinate data delimiter html type',
  PersonProperties: 'displayFormat email',
  PieChartSpec: 'domain:ChartData legendPosition pieHole series:ChartData threeDimensional',
  PivotFilterCriteria: 'condition:BooleanCondition visibleByDefault visibleValues',
  PivotFilterSpec:
    'columnOffsetIndex dataSourceColumnReference:DataSourceColumnReference filterCriteria:PivotFilterCriteria',
  PivotGroup:
    'dataSourceColumnReference:DataSourceColumnReference groupLimit:PivotGroupLimit groupRule:PivotGroupRule label repeatHeadings showTotals sortOrder sourceColumnOffset valueBucket:PivotGroupSortValueBucket valueMetadata:PivotGroupValueMetadata',
  PivotGroupLimit: 'applyOrder countLimit',
  PivotGroupRule: 'dateTimeRule:DateTimeRule histogramRule:HistogramRule manualRule:ManualRule',
  PivotGroupSortValueBucket: 'buckets:ExtendedValue valuesIndex',
  PivotGroupValueMetadata: 'collapsed value:ExtendedValue',
  PivotTable:
    'columns:PivotGroup criteria:{PivotFilterCriteria} dataExecutionStatus:DataExecutionStatus dataSourceId filterSpecs:PivotFilterSpec rows:PivotGroup source:GridRange valueLayout values:PivotValue',
  PivotValue:
    'calculatedDisplayType dataSourceColumnReference:DataSourceColumnReference formula name sourceColumnOffset summarizeFunction',
  PointStyle: 'shape size',
  Post: 'assigneeEmail author:PostAuthor commentAction content contentHtml createTime deleted fromCopiedSpreadsheet fromImportedSpreadsheet postId updateTime',
  PostAuthor: 'anonymous displayName me user',
  ProtectedRange:
    'description editors:Editors namedRangeId protectedRangeId range:GridRange requestingUserCanEdit tableId unprotectedRanges:GridRange warningOnly',
  RandomizeRangeRequest: 'range:GridRange',
  RefreshCancellationStatus: 'errorCode state',
  RefreshDataSourceObjectExecutionStatus:
    'dataExecutionStatus:DataExecutionStatus reference:DataSourceObjectReference',
  RefreshDataSourceRequest: 'dataSourceId force isAll references:DataSourceObjectReferences',
  RefreshDataSourceResponse: 'statuses:RefreshDataSourceObjectExecutionStatus',
  RepeatCellRequest: 'cell:CellData fields range:GridRange',
  Request:
    'addBanding:AddBandingRequest addChart:AddChartRequest addCommentReply:AddCommentReplyRequest addConditionalFormatRule:AddConditionalFormatRuleRequest addDataSource:AddDataSourceRequest addDimensionGroup:AddDimensionGroupRequest addFilterView:AddFilterViewRequest addNamedRange:AddNamedRangeRequest addProtectedRange:AddProtectedRangeRequest addSheet:AddSheetRequest addSlicer:AddSlicerRequest addTable:AddTableRequest appendCells:AppendCellsRequest appendDimension:AppendDimensionRequest autoFill:AutoFillRequest autoResizeDimensions:AutoResizeDimensionsRequest cancelDataSourceRefresh:CancelDataSourceRefreshRequest clearBasicFilter:ClearBasicFilterRequest copyPaste:CopyPasteRequest createDeveloperMetadata:CreateDeveloperMetadataRequest cutPaste:CutPasteRequest deleteBanding:DeleteBandingRequest deleteComment:DeleteCommentRequest deleteCommentReply:DeleteCommentReplyRequest deleteConditionalFormatRule:DeleteConditionalFormatRuleRequest deleteDataSource:DeleteDataSourceRequest deleteDeveloperMetadata:DeleteDeveloperMetadataRequest deleteDimension:DeleteDimensionRequest deleteDimensionGroup:DeleteDimensionGroupRequest deleteDuplicates:DeleteDuplicatesRequest deleteEmbeddedObject:DeleteEmbeddedObjectRequest deleteFilterView:DeleteFilterViewRequest deleteNamedRange:DeleteNamedRangeRequest deleteProtectedRange:DeleteProtectedRangeRequest deleteRange:DeleteRangeRequest deleteSheet:DeleteSheetRequest deleteTable:DeleteTableRequest duplicateFilterView:DuplicateFilterViewRequest duplicateSheet:DuplicateSheetRequest findReplace:FindReplaceRequest insertComment:InsertCommentRequest insertDimension:InsertDimensionRequest insertRange:InsertRangeRequest mergeCells:MergeCellsRequest moveDimension:MoveDimensionRequest pasteData:PasteDataRequest randomizeRange:RandomizeRangeRequest refreshDataSource:RefreshDataSourceRequest repeatCell:RepeatCellRequest setBasicFilter:SetBasicFilterRequest setDataValidation:SetDataValidationRequest sortRange:SortRangeRequest textToColumns:TextToColumnsRequest trimWhitespace:TrimWhitespaceRequest unmergeCells:UnmergeCellsRequest updateBanding:UpdateBandingRequest updateBorders:UpdateBordersRequest updateCells:UpdateCellsRequest updateChartSpec:UpdateChartSpecRequest updateCommentPost:UpdateCommentPostRequest updateConditionalFormatRule:UpdateConditionalFormatRuleRequest updateDataSource:UpdateDataSourceRequest updateDeveloperMetadata:UpdateDeveloperMetadataRequest updateDimensionGroup:UpdateDimensionGroupRequest updateDimensionProperties:UpdateDimensionPropertiesRequest updateEmbeddedObjectBorder:UpdateEmbeddedObjectBorderRequest updateEmbeddedObjectPosition:UpdateEmbeddedObjectPositionRequest updateFilterView:UpdateFilterViewRequest updateNamedRange:UpdateNamedRangeRequest updateProtectedRange:UpdateProtectedRangeRequest updateSheetProperties:UpdateSheetPropertiesRequest updateSlicerSpec:UpdateSlicerSpecRequest updateSpreadsheetProperties:UpdateSpreadsheetPropertiesRequest updateTable:UpdateTableRequest',
  Response:
    'addBanding:AddBandingResponse addChart:AddChartResponse addCommentReply:AddCommentReplyResponse addDataSource:AddDataSourceResponse addDimensionGroup:AddDimensionGroupResponse addFilterView:AddFilterViewResponse addNamedRange:AddNamedRangeResponse addProtectedRange:AddProtectedRangeResponse addSheet:AddSheetResponse addSlicer:AddSlicerResponse addTable:AddTableResponse cancelDataSourceRefresh:CancelDataSourceRefreshResponse createDeveloperMetadata:CreateDeveloperMetadataResponse deleteConditionalFormatRule:DeleteConditionalFormatRuleResponse deleteDeveloperMetadata:DeleteDeveloperMetadataResponse deleteDimensionGroup:DeleteDimensionGroupResponse deleteDuplicates:DeleteDuplicatesResponse duplicateFilterView:DuplicateFilterViewResponse duplicateSheet:DuplicateSheetResponse findReplace:FindReplaceResponse insertComment:InsertCommentResponse refreshDataSource:RefreshDataSourceResponse trimWhitespace:TrimWhitespaceResponse updateConditionalFormatRule:UpdateConditionalFormatRuleResponse updateDataSource:UpdateDataSourceResponse updateDeveloperMetadata:UpdateDeveloperMetadataResponse updateEmbeddedObjectPosition:UpdateEmbeddedObjectPositionResponse',
  RichLinkProperties: 'mimeType uri',
  RowData: 'values:CellData',
  ScorecardChartSpec:
    'aggregateType baselineValueData:ChartData baselineValueFormat:BaselineValueFormat customFormatOptions:ChartCustomNumberFormatOptions keyValueData:ChartData keyValueFormat:KeyValueFormat numberFormatSource scaleFactor',
  SearchDeveloperMetadataRequest: 'dataFilters:DataFilter',
  SearchDeveloperMetadataResponse: 'matchedDeveloperMetadata:MatchedDeveloperMetadata',
  SetBasicFilterRequest: 'filter:BasicFilter',
  SetDataValidationRequest: 'filteredRowsIncluded range:GridRange rule:DataValidationRule',
  Sheet:
    'bandedRanges:BandedRange basicFilter:BasicFilter charts:EmbeddedChart columnGroups:DimensionGroup commentAnchors:CommentAnchor conditionalFormats:ConditionalFormatRule data:GridData developerMetadata:DeveloperMetadata filterViews:FilterView merges:GridRange properties:SheetProperties protectedRanges:ProtectedRange rowGroups:DimensionGroup slicers:Slicer tables:Table',
  SheetProperties:
    'dataSourceSheetProperties:DataSourceSheetProperties gridProperties:GridProperties hidden index rightToLeft sheetId sheetType tabColor:Color tabColorStyle:ColorStyle title',
  Slicer: 'position:EmbeddedObjectPosition slicerId spec:SlicerSpec',
  SlicerSpec:
    'applyToPivotTables backgroundColor:Color backgroundColorStyle:ColorStyle columnIndex dataRange:GridRange filterCriteria:FilterCriteria horizontalAlignment textFormat:TextFormat title',
  SortRangeRequest: 'range:GridRange sortSpecs:SortSpec',
  SortSpec:
    'backgroundColor:Color backgroundColorStyle:ColorStyle dataSourceColumnReference:DataSourceColumnReference dimensionIndex foregroundColor:Color foregroundColorStyle:ColorStyle sortOrder',
  SourceAndDestination: 'dimension fillLength source:GridRange',
  Spreadsheet:
    'comments:CommentThread commentsViewMode dataSourceSchedules:DataSourceRefreshSchedule dataSources:DataSource developerMetadata:DeveloperMetadata namedRanges:NamedRange properties:SpreadsheetProperties sheets:Sheet spreadsheetId spreadsheetUrl',
  SpreadsheetProperties:
    'autoRecalc defaultFormat:CellFormat importFunctionsExternalUrlAccessAllowed iterativeCalculationSettings:IterativeCalculationSettings locale spreadsheetTheme:SpreadsheetTheme timeZone title',
  SpreadsheetTheme: 'primaryFontFamily themeColors:ThemeColorPair',
  Table:
    'columnProperties:TableColumnProperties name range:GridRange rowsProperties:TableRowsProperties tableId',
  TableColumnDataValidationRule: 'condition:BooleanCondition',
  TableColumnProperties: 'columnIndex columnName columnType dataValidationRule:TableColumnDataValidationRule',
  TableRowsProperties:
    'firstBandColorStyle:ColorStyle footerColorStyle:ColorStyle headerColorStyle:ColorStyle secondBandColorStyle:ColorStyle',
  TextFormat:
    'bold fontFamily fontSize foregroundColor:Color foregroundColorStyle:ColorStyle italic link:Link strikethrough underline',
  TextFormatRun: 'format:TextFormat startIndex',
  TextPosition: 'horizontalAlignment',
  TextRotation: 'angle vertical',
  TextToColumnsRequest: 'delimiter delimiterType source:GridRange',
  ThemeColorPair: 'color:ColorStyle colorType',
  TimeOfDay: 'hours minutes nanos seconds',
  TreemapChartColorScale:
    'maxValueColor:Color maxValueColorStyle:ColorStyle midValueColor:Color midValueColorStyle:ColorStyle minValueColor:Color minValueColorStyle:ColorStyle noDataColor:Color noDataColorStyle:ColorStyle',
  TreemapChartSpec:
    'colorData:ChartData colorScale:TreemapChartColorScale headerColor:Color headerColorStyle:ColorStyle hideTooltips hintedLevels labels:ChartData levels maxValue minValue parentLabels:ChartData sizeData:ChartData textFormat:TextFormat',
  TrimWhitespaceRequest: 'range:GridRange',
  TrimWhitespaceResponse: 'cellsChangedCount',
  UnmergeCellsRequest: 'range:GridRange',
  UpdateBandingRequest: 'bandedRange:BandedRange fields',
  UpdateBordersRequest:
    'bottom:Border innerHorizontal:Border innerVertical:Border left:Border range:GridRange right:Border top:Border',
  UpdateCellsRequest: 'fields range:GridRange rows:RowData start:GridCoordinate',
  UpdateChartSpecRequest: 'chartId spec:ChartSpec',
  UpdateCommentPostRequest: 'commentId content postId',
  UpdateConditionalFormatRuleRequest: 'index newIndex rule:ConditionalFormatRule sheetId',
  UpdateConditionalFormatRuleResponse:
    'newIndex newRule:ConditionalFormatRule oldIndex oldRule:ConditionalFormatRule',
  UpdateDataSourceRequest: 'dataSource:DataSource fields',
  UpdateDataSourceResponse: 'dataExecutionStatus:DataExecutionStatus dataSource:DataSource',
  UpdateDeveloperMetadataRequest: 'dataFilters:DataFilter developerMetadata:DeveloperMetadata fields',
  UpdateDeveloperMetadataResponse: 'developerMetadata:DeveloperMetadata',
  UpdateDimensionGroupRequest: 'dimensionGroup:DimensionGroup fields',
  UpdateDimensionPropertiesRequest:
    'dataSourceSheetRange:DataSourceSheetDimensionRange fields properties:DimensionProperties range:DimensionRange',
  UpdateEmbeddedObjectBorderRequest: 'border:EmbeddedObjectBorder fields objectId',
  UpdateEmbeddedObjectPositionRequest: 'fields newPosition:EmbeddedObjectPosition objectId',
  UpdateEmbeddedObjectPositionResponse: 'position:EmbeddedObjectPosition',
  UpdateFilterViewRequest: 'fields filter:FilterView',
  UpdateNamedRangeRequest: 'fields namedRange:NamedRange',
  UpdateProtectedRangeRequest: 'fields protectedRange:ProtectedRange',
  UpdateSheetPropertiesRequest: 'fields properties:SheetProperties',
  UpdateSlicerSpecRequest: 'fields slicerId spec:SlicerSpec',
  UpdateSpreadsheetPropertiesRequest: 'fields properties:SpreadsheetProperties',
  UpdateTableRequest: 'fields table:Table',
  UpdateValuesByDataFilterResponse:
    'dataFilter:DataFilter updatedCells updatedColumns updatedData:ValueRange updatedRange updatedRows',
  UpdateValuesResponse:
    'spreadsheetId updatedCells updatedColumns updatedData:ValueRange updatedRange updatedRows',
  ValueRange: 'majorDimension range values',
  WaterfallChartColumnStyle: 'color:Color colorStyle:ColorStyle label',
  WaterfallChartCustomSubtotal: 'dataIsSubtotal label subtotalIndex',
  WaterfallChartDomain: 'data:ChartData reversed',
  WaterfallChartSeries:
    'customSubtotals:WaterfallChartCustomSubtotal data:ChartData dataLabel:DataLabel hideTrailingSubtotal negativeColumnsStyle:WaterfallChartColumnStyle positiveColumnsStyle:WaterfallChartColumnStyle subtotalColumnsStyle:WaterfallChartColumnStyle',
  WaterfallChartSpec:
    'connectorLineStyle:LineStyle domain:WaterfallChartDomain firstValueIsTotal hideConnectorLines series:WaterfallChartSeries stackedType totalDataLabel:DataLabel',
} as const satisfies Record<string, string>;

export type MessageName = keyof typeof MESSAGE_FIELDS;
