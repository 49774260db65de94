package org.apache.spark.sql.meaning

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.ObjectNode
import org.apache.spark.SparkThrowable
import org.apache.spark.sql.catalyst.analysis.FunctionRegistry
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.catalyst.plans.logical.{DeleteFromTable, LogicalPlan, MergeIntoTable, UpdateTable}
import org.apache.spark.sql.types.{StructField, StructType}
import org.apache.spark.sql.catalyst.parser.CatalystSqlParser
import java.io.{BufferedReader, FileDescriptor, FileOutputStream, InputStreamReader, PrintStream}
import scala.jdk.CollectionConverters._

/** Answers requests, one JSON object a line: `{"op": …}` on standard input, `{"ok": …}` or `{"error": …}` on standard output. */
object Server {
  private val json = new ObjectMapper
  private val session = new Session

  private val fixed = Map(
    "spark.sql.session.timeZone" -> "UTC",
    // checks of Spark's own rules, which its own tests need
    "spark.sql.planChangeValidation" -> "false",
    "spark.sql.lightweightPlanChangeValidation" -> "false")

  def main(args: Array[String]): Unit = {
    val in = new BufferedReader(new InputStreamReader(System.in, "UTF-8"))
    val out = new PrintStream(new FileOutputStream(FileDescriptor.out), true, "UTF-8")
    fixed.foreach { case (name, value) => session.configure(name, value) }
    Iterator.continually(in.readLine()).takeWhile(_ != null).foreach(line => out.println(reply(json.readTree(line))))
  }

  private def reply(request: JsonNode): String = {
    val answer = json.createObjectNode()
    try answer.set[JsonNode]("ok", answered(request))
    catch { case error: Throwable => answer.set[JsonNode]("error", described(error)) }
    json.writeValueAsString(answer)
  }

  private def answered(request: JsonNode): JsonNode = {
    def text(name: String): String = request.get(name).asText
    text("op") match {
      case "set" => session.configure(text("name"), text("value")); none
      case "table" => define(text("name"), request); none
      case "create" => val found = session.query(text("sql")); session.define(text("name"), found.schema, found.rows); none
      case "reset" => session.dropAll(); none
      case "parse" => session.parsed(text("sql")); none
      case "query" => query(session.query(text("sql")))
      case "schema" => json.valueToTree(columns(session.analyzed(session.parsed(text("sql")))))
      case "explain" => json.valueToTree(explained(text("sql")))
      case "merge" => json.valueToTree(merged(text("sql")))
      case "examples" => json.valueToTree(examples)
    }
  }

  private def none: JsonNode = json.nullNode

  private def define(name: String, request: JsonNode): Unit = {
    val schema = StructType(request.get("columns").elements.asScala.toSeq.map { pair =>
      StructField(pair.get(0).asText, CatalystSqlParser.parseDataType(pair.get(1).asText))
    })
    val types = schema.map(_.dataType).toIndexedSeq
    session.define(name, schema, request.get("rows").elements.asScala.map(Cells.row(_, types)).toIndexedSeq)
  }

  private def query(found: Relation): JsonNode = {
    val answer = json.createObjectNode()
    answer.set[ObjectNode]("columns", json.valueToTree[JsonNode](columns(found)))
    answer.set[ObjectNode]("rows", Cells.write(found.rows, found.output.map(_.dataType).toIndexedSeq))
  }

  private def columns(plan: LogicalPlan): java.util.List[java.util.List[String]] =
    plan.output.map(a => Seq(a.name, a.dataType.catalogString).asJava).asJava

  private def explained(sql: String): java.util.List[String] = {
    val plan = session.parsed(sql)
    Seq(session.analyzed(plan).treeString, session.optimized(plan).treeString).asJava
  }

  private def merged(sql: String): Int = session.parsed(sql) match {
    case statement: MergeIntoTable => new Merging(session, statement).run()
    case UpdateTable(target, assignments, condition) =>
      new Rewriting(session, target, condition.getOrElse(Literal.TrueLiteral), assignments, deletes = false).run()
    case DeleteFromTable(target, condition) => new Rewriting(session, target, condition, Seq(), deletes = true).run()
    case other => throw new IllegalArgumentException(s"no MERGE, UPDATE or DELETE: ${other.nodeName}")
  }

  /** [function, example] of every example that Spark's documentation has of its functions. */
  private def examples: java.util.List[java.util.List[String]] = {
    val registry = FunctionRegistry.builtin
    registry.listFunction().sortBy(_.funcName).flatMap { id =>
      val texts = registry.lookupFunction(id).toSeq.flatMap(_.getExamples.split("\n").map(_.trim).filter(_.startsWith("> ")))
      texts.map(text => Seq(id.funcName, text.drop(2).trim.stripSuffix(";")).asJava)
    }.asJava
  }

  private def described(error: Throwable): JsonNode = {
    val answer = json.createObjectNode()
    val condition = error match { case known: SparkThrowable => known.getCondition; case _ => null }
    answer.put("class", if (condition != null) condition else error.getClass.getSimpleName)
    answer.put("spark", condition != null)
    answer.put("message", String.valueOf(error.getMessage))
    answer.put("trace", error.getStackTrace.take(8).mkString("\n"))
  }
}
