package org.apache.spark.sql.meaning

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.optimizer.NormalizeFloatingNumbers
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.errors.QueryExecutionErrors
import scala.collection.mutable

/** The rows of an optimized plan: what Spark's physical operators compute, in the plainest way, by its interpreted expressions. */
object Evaluator {
  type Rows = IndexedSeq[InternalRow]

  def rows(plan: LogicalPlan): Rows = plan match {
    case relation: Relation => relation.rows
    case local: LocalRelation => local.data.toIndexedSeq
    case _: OneRowRelation => IndexedSeq(InternalRow.empty)
    case range: Range => (0 until range.numElements.toInt).map(i => row(Seq(range.start + i * range.step)))
    case Project(items, child) => rows(child).map(project(items, child.output))
    case Filter(condition, child) => val holds = predicate(condition, child.output); rows(child).filter(holds)
    case union: Union => union.children.toIndexedSeq.flatMap(rows)
    case join: Join => Joins.rows(join)
    case aggregate: Aggregate => Aggregation.rows(aggregate)
    case window: Window => Windows.rows(window)
    case limit: WindowGroupLimit => rows(limit.child) // the filter that it is made for is above it
    case expand: Expand =>
      val projections = expand.projections.map(project(_, expand.child.output))
      rows(expand.child).flatMap(r => projections.map(_(r)))
    case generate: Generate => generated(generate)
    case sort: Sort =>
      val order = new InterpretedOrdering(sort.order.map(bound(_, sort.child.output).asInstanceOf[SortOrder]))
      rows(sort.child).sorted(order)
    case GlobalLimit(most, child) => rows(child).take(most.eval().asInstanceOf[Int])
    case LocalLimit(most, child) => rows(child).take(most.eval().asInstanceOf[Int])
    case Offset(first, child) => rows(child).drop(first.eval().asInstanceOf[Int])
    case _: SubqueryAlias | _: ResolvedHint | _: RepartitionOperation => rows(plan.children.head)
    case other => throw new UnsupportedOperationException(s"no evaluation of ${other.nodeName}: ${other.simpleStringWithNodeId()}")
  }

  /** The expression over rows with these attributes, its subqueries evaluated. */
  def bound(expression: Expression, input: Seq[Attribute]): Expression = {
    val alone = expression.transform { case subquery: ScalarSubquery => Literal(scalar(subquery), subquery.dataType) }
    val found = BindReferences.bindReference(alone, AttributeSeq(input))
    found.foreach { case drawn: Nondeterministic => drawn.initialize(0); case _ => }
    found
  }

  def project(items: Seq[Expression], input: Seq[Attribute]): InternalRow => InternalRow = {
    val found = items.map(bound(_, input))
    r => row(found.map(_.eval(r)))
  }

  def predicate(condition: Expression, input: Seq[Attribute]): InternalRow => Boolean = {
    val found = bound(condition, input)
    r => found.eval(r) == true
  }

  def row(values: Iterable[Any]): InternalRow = new GenericInternalRow(values.toArray)

  def values(r: InternalRow, output: Seq[Attribute]): Seq[Any] = output.indices.map(i => r.get(i, output(i).dataType))

  /** What equal values of a group or of a join have in common: by reference bytes differ, and NaN is not even equal to itself. */
  def key(value: Any): Any = value match {
    case number: Double if number.isNaN => "NaN"
    case number: Float if number.isNaN => "NaN"
    case bytes: Array[Byte] => bytes.toSeq
    case other => other
  }

  /** Grouped by the values of the expressions as Spark's hash tables compare them: -0.0 is 0.0. In order of appearance. */
  def grouped(found: Rows, by: Seq[Expression], input: Seq[Attribute]): mutable.LinkedHashMap[Seq[Any], (InternalRow, mutable.ArrayBuffer[InternalRow])] = {
    val keys = project(by.map(NormalizeFloatingNumbers.normalize), input)
    val groups = mutable.LinkedHashMap[Seq[Any], (InternalRow, mutable.ArrayBuffer[InternalRow])]()
    found.foreach { r =>
      val group = keys(r)
      val same = by.indices.map(i => key(group.get(i, by(i).dataType)))
      groups.getOrElseUpdate(same, (group, mutable.ArrayBuffer()))._2 += r
    }
    groups
  }

  private def scalar(subquery: ScalarSubquery): Any = rows(subquery.plan) match {
    case IndexedSeq() => null
    case IndexedSeq(one) => one.get(0, subquery.dataType)
    case _ => throw QueryExecutionErrors.multipleRowScalarSubqueryError(subquery.origin.context)
  }

  private def generated(plan: Generate): Rows = {
    val generator = bound(plan.generator, plan.child.output).asInstanceOf[Generator]
    val schema = generator.elementSchema
    val kept = project(plan.requiredChildOutput, plan.child.output)
    val missing = if (plan.outer) Seq(Seq.fill[Any](schema.length)(null)) else Seq()
    rows(plan.child).flatMap { r =>
      val known = values(kept(r), plan.requiredChildOutput)
      val found = generator.eval(r).iterator.map(x => schema.indices.map(i => x.get(i, schema(i).dataType))).toSeq
      (if (found.isEmpty) missing else found).map(each => row(known ++ each))
    }
  }
}
