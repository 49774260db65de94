package org.apache.spark.sql.meaning

import org.apache.hadoop.conf.Configuration
import org.apache.spark.SparkConf
import org.apache.spark.sql.catalyst.{InternalRow, QueryPlanningTracker, TableIdentifier}
import org.apache.spark.sql.catalyst.analysis.{Analyzer, FunctionRegistry, TableFunctionRegistry}
import org.apache.spark.sql.catalyst.catalog._
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.optimizer.Optimizer
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import scala.collection.mutable

/** Spark's parser, analyzer and optimizer over a catalog of relations in memory. */
final class Session {
  private val catalog = new SessionCatalog(
    new InMemoryCatalog(new SparkConf(false), new Configuration(false)), FunctionRegistry.builtin, TableFunctionRegistry.builtin)
  private val analyzer = new Analyzer(catalog)
  private val optimizer = new Optimizer(analyzer.catalogManager) {}
  private val tables = mutable.Map[String, Relation]()
  private val plans = mutable.Map[String, (Seq[Attribute], LogicalPlan)]() // query → its output, its optimized plan

  def configure(name: String, value: String): Unit = {
    SQLConf.get.setConfString(name, value)
    plans.clear()
  }

  def parsed(sql: String): LogicalPlan = CatalystSqlParser.parsePlan(sql)

  def analyzed(plan: LogicalPlan): LogicalPlan = {
    val tracker = new QueryPlanningTracker(None)
    QueryPlanningTracker.withTracker(tracker) { analyzer.executeAndCheck(plan, tracker) }
  }

  def optimized(plan: LogicalPlan): LogicalPlan = optimizer.execute(analyzed(plan))

  /** The rows of a query. Its plan is kept while the tables keep their columns. */
  def query(sql: String): Relation = {
    val (output, plan) = plans.getOrElseUpdate(sql, planned(parsed(sql)))
    Relation(output, Evaluator.rows(plan))
  }

  /** The rows of a plan as it is parsed. */
  def evaluated(plan: LogicalPlan): Relation = {
    val (output, found) = planned(plan)
    Relation(output, Evaluator.rows(found))
  }

  private def planned(plan: LogicalPlan): (Seq[Attribute], LogicalPlan) = {
    val analysis = analyzed(plan)
    (analysis.output, optimizer.execute(analysis))
  }

  /** A table of that name, in place of one that there may be. */
  def define(name: String, schema: StructType, rows: IndexedSeq[InternalRow]): Unit = tables.get(name) match {
    case Some(known) if DataTypeUtils.sameType(known.schema, schema) && known.schema.names.sameElements(schema.names) =>
      known.content.rows = rows
    case _ =>
      plans.clear()
      tables(name) = Relation.of(name, schema, rows)
      val table = CatalogTable(
        TableIdentifier(name), CatalogTableType.VIEW, CatalogStorageFormat.empty, schema,
        properties = Map(CatalogTable.VIEW_STORING_ANALYZED_PLAN -> "true"))
      catalog.createTempView(name, TemporaryViewRelation(table, Some(tables(name))), overrideIfExists = true)
  }

  def table(name: String): Relation = tables(name)

  def dropAll(): Unit = {
    tables.keys.foreach(catalog.dropTempView)
    tables.clear()
    plans.clear()
  }
}
