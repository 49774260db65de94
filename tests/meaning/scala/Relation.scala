package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference}
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, Statistics}
import org.apache.spark.sql.catalyst.util.truncatedString
import org.apache.spark.sql.types.StructType

/** The rows of a table, which may be replaced while plans over the table stay as they are. */
final class Content(var rows: IndexedSeq[InternalRow])

/** A table or the rows of a query, as a leaf of a plan.
  *
  * Not Spark's LocalRelation, because the optimizer looks into that one: it evaluates projections and conditions over it, and takes
  * its number of rows for known. What Spark does with a stored table must not depend on what is in it.
  */
case class Relation(output: Seq[Attribute], content: Content, name: String = "") extends LeafNode with MultiInstanceRelation {
  def rows: IndexedSeq[InternalRow] = content.rows
  override def newInstance(): Relation = copy(output = output.map(_.newInstance()))
  override def computeStats(): Statistics = Statistics(sizeInBytes = Relation.Size)

  /** As a plan has the tables that Spark reads from files. */
  override def simpleString(maxFields: Int): String =
    s"Relation $name${truncatedString(output, "[", ",", "]", maxFields)} memory"
}

object Relation {
  private val Size = BigInt(1) << 20 // neither empty nor huge

  def apply(output: Seq[Attribute], rows: IndexedSeq[InternalRow]): Relation = Relation(output, new Content(rows))

  def of(name: String, schema: StructType, rows: IndexedSeq[InternalRow]): Relation =
    Relation(schema.map(field => AttributeReference(field.name, field.dataType, nullable = true)()), new Content(rows), name)
}
